//@ attack: a process is killed by a system call of x32
//@ effect: process
//@ unconfined: no: most kernels, as this one, have no x32
#include "hostile.h"

static void attack(void)
{
	syscall(0x40000000 | SYS_kill, victim, SIGKILL);
}
