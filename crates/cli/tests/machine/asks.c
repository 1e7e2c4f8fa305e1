// Ends in seven ways, by its argument, its standard input and a file.
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc < 2) return 9;
	if (!strcmp(argv[1], "ab")) {
		puts("ab!");
		return 1;
	}
	int c = getchar();
	if (c == 'x') return 2;
	if (c == EOF) return 3;
	FILE *f = fopen("A", "r");
	if (!f) return 4;
	if (fgetc(f) == 'q') return 5;
	return 6;
}
