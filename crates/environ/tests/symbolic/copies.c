/* Copies what its last argument names, or standard input, into a new file and from there to standard output, up to the first `.`. */
#include "../programs/say.h"

int main(int argc, char **argv)
{
	char b[8], c[8];
	long in = sys(OPEN, argv[argc - 1], RDONLY), out = sys(OPEN, "copy", CREATE | RDWR, 0600), n = 0;
	if (in < 0) in = 0;
	while (sys(READ, in, b, 1) == 1 && *b != '.') sys(WRITE, out, b, 1), n++;
	sys(LSEEK, out, 0, 0);
	long m = sys(READ, out, c, sizeof c);
	if (m != n) return 99;
	for (long i = 0; i < n; i++) if (c[i] == 'x') return 50 + sys(WRITE, 1, c, i);
	return argc * 10 + sys(WRITE, 1, c, n);
}
