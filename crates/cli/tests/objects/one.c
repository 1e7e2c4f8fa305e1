// Calls the other object and the C library in every way: variable arguments, floats, callbacks, data, thread-local storage, weak and
// common symbols, constructors and what runs at the end.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int table[4];
extern int *inside;
extern __thread int theirs;
int sum(const int *values, int count);
int nobody(void) __attribute__((weak));
int fallback(void) __attribute__((weak));
int fallback(void) { return 1; }
int common;
static __thread int own = 3;

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void last(void) { puts("last"); }
__attribute__((constructor)) static void first(void) { common += 5; }
__attribute__((destructor)) static void very_last(void) { puts("very last"); }

int main(int argc, char **argv)
{
	atexit(last);
	int values[5] = {5, 3, 9, 1, 2}, read = 0;
	double half = 0;
	char text[64];
	qsort(values, 5, sizeof *values, compare);
	snprintf(text, sizeof text, "%d %.2f %ld %s", values[0], 2.5 + argc, 77L, "words");
	sscanf("12 0.5", "%d %lf", &read, &half);
	printf("%s|%d %d %d %d|%d %g %g\n", text, values[1], values[2], values[3], values[4], read, half, strtod("1.5", 0));
	printf("%d %d %d %d %d\n", ++own, ++theirs, common, nobody ? nobody() : -1, fallback());
	printf("%d %d %d\n", sum(table, 4), *inside, sum(values, 5));
	FILE *file = fopen("no such file", "r");
	fprintf(stdout, "%d %d\n", file == NULL, errno == ENOENT);
	if (argc > 1 && argv[1][0] == 'h') {
		int *heap = malloc(8);
		heap[argc] = 1;
	}
	if (argc > 1 && argv[1][0] == 't')
		table[sum(values, 1) + 3] = 1;
	return sum(values, 5);
}
