//@ attack: a process is killed by a signal with a value
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	siginfo_t info = {.si_code = SI_QUEUE};
	syscall(SYS_rt_sigqueueinfo, victim, SIGKILL, &info);
	syscall(SYS_rt_tgsigqueueinfo, victim, victim, SIGKILL, &info);
}
