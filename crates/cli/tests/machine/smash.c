// A string longer than its buffer overwrites the return address; long jumps and recursion do not.
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf out;

__attribute__((noinline)) static void copy(const char *from)
{
	char buffer[8];
	strcpy(buffer, from);
	__asm__ volatile("" : : "r"(buffer) : "memory");
}

__attribute__((noinline)) static int deep(int n)
{
	if (n == 0) longjmp(out, 3);
	return deep(n - 1) + n;
}

__attribute__((noinline)) static int *made(int n) { return malloc(n * sizeof(int)); }

int main(int argc, char **argv)
{
	if (setjmp(out) == 0) return deep(5);
	if (argc > 1) copy(argv[1]);
	int *p = made(3);
	if (argc > 2) *(volatile int *)&p[3] = 1;
	free(p);
	return 3;
}
