/* A new process or thread, asked of the kernel model: it makes processes with a copy of the memory, which run on the parent's own stack, and no threads. */
#include <errno.h>
#include "syscall.h"

int __clone(int (*func)(void *), void *stack, int flags, void *arg, ...)
{
	long child = __syscall(SYS_clone, flags, 0);
	if (child == 0) {
		__syscall(SYS_exit, func(arg));
		for (;;);
	}
	return child;
}
