/* Reads the file its argument names, else standard input; tells which, and whether it begins with `x`. A directory is not read. */
#include "../programs/say.h"

int main(int argc, char **argv)
{
	char b[8];
	long fd = sys(OPEN, argv[1], RDONLY), base = 10;
	if (fd < 0) fd = 0;
	else base = argv[1][0] == 'A' ? 20 : 22;
	long n = sys(READ, fd, b, sizeof b);
	if (n == -21) return 30; /* EISDIR */
	if (n != (base == 10 ? 2 : 3)) return 99;
	return base + (b[0] == 'x');
}
