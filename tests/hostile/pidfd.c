//@ attack: a process is killed through a descriptor
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	int fd = syscall(SYS_pidfd_open, victim, 0);
	syscall(SYS_pidfd_send_signal, fd, SIGKILL, 0, 0);
}
