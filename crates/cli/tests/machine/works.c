// Formats, allocates, sorts and reads a file: what a C library does for a program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(int argc, char **argv)
{
	char *p = malloc(100);
	strcpy(p, "abc");
	strcat(p, argc > 1 ? argv[1] : "def");
	p = realloc(p, 5000);
	printf("%s %zu %x %5d|%-5s|\n", p, strlen(p), 0xbeef, 42, "x");

	FILE *f = fopen("text", "r");
	char line[200];
	int lines = 0;
	while (f && fgets(line, sizeof line, f)) lines++;
	printf("%d lines\n", lines);

	int *v = calloc(1000, sizeof *v);
	for (int i = 0; i < 1000; i++) v[i] = i * 7919 % 1000;
	qsort(v, 1000, sizeof *v, compare);
	printf("%d %d\n", v[0], v[999]);
	free(v);
	free(p);
	fprintf(stderr, "done\n");
	return lines % 7;
}
