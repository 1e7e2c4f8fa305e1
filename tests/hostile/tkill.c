//@ attack: a thread is killed by the old call
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	syscall(SYS_tkill, victim, SIGKILL);
}
