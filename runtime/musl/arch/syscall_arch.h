/* System calls: every one is a call of a single external function, which the environment model answers. Nothing is found
 * through the vdso, so time too comes from a system call. */
long __wryneck_syscall(long n, long a1, long a2, long a3, long a4, long a5, long a6);

#define __SYSCALL_LL_E(x) (x)
#define __SYSCALL_LL_O(x) (x)

static inline long __syscall0(long n) { return __wryneck_syscall(n, 0, 0, 0, 0, 0, 0); }
static inline long __syscall1(long n, long a) { return __wryneck_syscall(n, a, 0, 0, 0, 0, 0); }
static inline long __syscall2(long n, long a, long b) { return __wryneck_syscall(n, a, b, 0, 0, 0, 0); }
static inline long __syscall3(long n, long a, long b, long c) { return __wryneck_syscall(n, a, b, c, 0, 0, 0); }
static inline long __syscall4(long n, long a, long b, long c, long d) { return __wryneck_syscall(n, a, b, c, d, 0, 0); }
static inline long __syscall5(long n, long a, long b, long c, long d, long e)
{
	return __wryneck_syscall(n, a, b, c, d, e, 0);
}
static inline long __syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	return __wryneck_syscall(n, a, b, c, d, e, f);
}

#define IPC_64 0
