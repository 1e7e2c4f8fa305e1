// A switch through a table, a call through a table of functions, and a jump to what is read.
#include <stdlib.h>

static int one(void) { return 1; }
static int two(void) { return 2; }
static int three(void) { return 3; }
static int (*const table[])(void) = { one, two, three };

int main(int argc, char **argv)
{
	if (argc < 2) return 9;
	unsigned char c = argv[1][0], d = argv[1][1];
	if (!c) return 10;
	if (c == 'p') return ((int (*)(void))((long)one + ((long)d << 40)))();
	if (c == 't') return table[d % 3]();
	switch (d) {
	case 'a': return 11;
	case 'b': return 12;
	case 'c': abort();
	case 'd': return 14;
	case 'e': return argc + 15;
	case 'f': return argc * 16;
	default: return 0;
	}
}
