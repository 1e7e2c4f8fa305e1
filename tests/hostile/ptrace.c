//@ attack: a process is traced and killed
//@ effect: process
#include "hostile.h"
#include <sys/ptrace.h>

static void attack(void)
{
	if (ptrace(PTRACE_ATTACH, victim, 0, 0)) return;
	waitpid(victim, 0, __WALL);
	ptrace(PTRACE_DETACH, victim, 0, SIGKILL);
}
