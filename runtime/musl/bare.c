/* Runs the bitcode library on the bare Linux kernel: what the engine answers, answered by the machine. The set-up links it with
 * the library and a program, so that a wrong overlay is found natively, without any engine. */
#include <stddef.h>
#include <string.h>

int main(int, char **, char **);
int __libc_start_main(int (*)(int, char **, char **), int, char **);

long __wryneck_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return n;
}

long __wryneck_concretise(long value) { return value; }
size_t __wryneck_room(const void *p) { return p ? 6 * sizeof(long) : 0; }
void __wryneck_run_init_array(void) {}
void __wryneck_run_fini_array(void) {}

/* An allocator that never reuses; each block is preceded by its size. */
static _Alignas(16) char heap[64 << 20];
static size_t used;

void *aligned_alloc(size_t align, size_t n)
{
	size_t start = (used + 16 + align - 1) & -align;
	if (n > sizeof heap || start > sizeof heap - n) return 0;
	used = start + n;
	memcpy(heap + start - sizeof n, &n, sizeof n);
	return heap + start;
}

void *malloc(size_t n) { return aligned_alloc(16, n); }
void free(void *p) {}

void *calloc(size_t m, size_t n)
{
	if (n && m > (size_t)-1 / n) return 0;
	return malloc(m * n);
}

void *realloc(void *p, size_t n)
{
	size_t old = 0;
	if (p) memcpy(&old, (char *)p - sizeof old, sizeof old);
	void *fresh = malloc(n);
	if (fresh && p) memcpy(fresh, p, old < n ? old : n);
	return fresh;
}

__attribute__((used)) static void start(long *stack) { __libc_start_main(main, (int)stack[0], (char **)(stack + 1)); }

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n\thlt\n");

/* Nothing is thrown here. */
unsigned long __wryneck_pad_below(unsigned long height, void **table) { return -1; }
_Noreturn void __wryneck_land(unsigned long frame) { for (;;) __builtin_trap(); }
void __wryneck_panic(unsigned long catcher) {}
long __wryneck_signals(void) { return 0; }
long __wryneck_signalled(long result, unsigned long mask) { return result; }
_Noreturn void __wryneck_terminate(const char *type) { for (;;) __builtin_trap(); }
