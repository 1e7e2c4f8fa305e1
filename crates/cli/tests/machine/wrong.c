// Does what its first argument names, and nothing else is wrong with it.
#include <stdlib.h>
#include <string.h>

const char fixed[8] = "fixed";
int after_main;

int main(int argc, char **argv)
{
	if (argc < 2) return 0;
	char *heap = malloc(100);
	switch (argv[1][0]) {
	case 'h': heap[100] = 1; break;
	case 'f': free(heap); heap[3] = 1; break;
	case 'd': free(heap); free(heap); return 0;
	case 'c': *(volatile char *)fixed = 'x'; break;
	case 't': *(volatile char *)main = 'x'; break;
	case 'j': ((void (*)(void))&after_main)(); break;
	case 'z': ((void (*)(void))(after_main + 0L))(); break;
	case 'n': *(volatile char *)(long)after_main = 1; break;
	case 'a': abort();
	}
	free(heap);
	return 1;
}
