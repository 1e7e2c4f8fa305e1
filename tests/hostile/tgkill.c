//@ attack: a thread is killed
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	syscall(SYS_tgkill, victim, victim, SIGKILL);
}
