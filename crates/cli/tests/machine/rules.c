// Streams and memory, used as its argument says; calls in tail position are the program's, those of the library are not.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

__attribute__((noinline)) static FILE *opened(const char *name)
{
	return fopen(name, "r");
}

__attribute__((noinline)) static int closed(FILE *f)
{
	return fclose(f);
}

__attribute__((noinline)) static int by_pointer(int (*f)(FILE *), FILE *stream)
{
	return f(stream) + 1;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? opened("A") : NULL;
	if (!f) return 1;
	switch (argv[1][0]) {
	case 'c': return closed(f);
	case 'p': return by_pointer(fclose, f);
	case 't': return fclose(f);
	case 'm': return free(kept = strdup("word")), fclose(f);
	case 'l': return (kept = malloc(3)) == NULL;
	case 'a': assert(argc != 2); return 0;
	case 'd': return fclose(stdout), puts("late"), fclose(f);
	default: return 0;
	}
}
