/* Delivery of a signal in bitcode: a system call that lets one through goes on here, and gives its own result when the handler has returned. */
#include <signal.h>
#include <stdint.h>

long __wryneck_signals(void);
long __wryneck_signalled(long result, uint64_t mask);
long __wryneck_syscall(long n, long a, long b, long c, long d, long e, long f);

long __wryneck_deliver(long result, long signal, uint64_t handler, uint64_t flags, uint64_t mask, long code, uint64_t who, uint64_t value,
	long again, long n, long a, long b, long c, long d, long e, long f)
{
	/* Of several signals that become deliverable at once the kernel begins the first, and before its first instruction the next. */
	__wryneck_signals();
	if (flags & SA_SIGINFO) {
		siginfo_t info = {.si_signo = signal, .si_code = code};
		/* Registers have no values here. */
		ucontext_t context = {.uc_sigmask.__bits[0] = mask};
		info.si_pid = who;
		info.si_uid = who >> 32;
		info.si_value.sival_ptr = (void *)value;
		((void (*)(int, siginfo_t *, void *))handler)(signal, &info, &context);
		/* The handler may have changed it. */
		mask = context.uc_sigmask.__bits[0];
	} else
		((void (*)(int))handler)(signal);
	result = __wryneck_signalled(result, mask);
	return again ? __wryneck_syscall(n, a, b, c, d, e, f) : result;
}
