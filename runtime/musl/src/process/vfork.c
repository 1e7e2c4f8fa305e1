/* The kernel model's `vfork` gives the child a copy of the memory, so a call of it may return twice from C. */
#include <unistd.h>
#include "syscall.h"

pid_t vfork(void)
{
	return syscall(SYS_vfork);
}
