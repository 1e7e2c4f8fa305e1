#include <stddef.h>
#include <klee/klee.h>

void *malloc(size_t), *realloc(void *, size_t);
void free(void *);

char global[8];

int main(void)
{
	char local[8];
	char *p = malloc(8), *q;
	volatile char sink;
	switch (klee_range(0, 10, "which")) {
	case 0: free(p); free(p); return 1;
	case 1: free(p + 4); return 1;
	case 2: free(global); return 1;
	case 3: free(local + 1); return 1;
	case 4: free(p); sink = p[0]; return 1;
	case 5: sink = p[klee_range(8, 9, "i")]; return 1;
	case 6: p[8] = 1; return 1;
	case 7: free(klee_int("null") ? p : NULL); return 0;
	case 8: q = realloc(p, 100); q[99] = 1; free(q); return 0;
	default: free(p); return 0;
	}
}
