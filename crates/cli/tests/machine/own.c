// Calls functions of the C library's names that are its own, and do something else.
#include <stddef.h>

size_t strlen(const char *s)
{
	return s[0] == 'a' ? 40 : 2;
}

static int cleanup(int n)
{
	return n + 2;
}

int main(int argc, char **argv)
{
	return argc < 2 ? 1 : cleanup(strlen(argv[1]));
}
