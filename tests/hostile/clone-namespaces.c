//@ attack: a process in new namespaces is made
//@ effect: said
#include "hostile.h"
#include <sched.h>

static void attack(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) _exit(0);
	effect_if(pid > 0);
}
