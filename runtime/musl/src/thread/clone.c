/* A new process or thread: asked of the kernel model, which says that it has none. */
#include <errno.h>
#include "syscall.h"

int __clone(int (*func)(void *), void *stack, int flags, void *arg, ...)
{
	(void)func;
	(void)arg;
	return __syscall(SYS_clone, flags, stack);
}
