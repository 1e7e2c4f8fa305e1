//@ attack: the same by the newer call, whose arguments a filter cannot see
//@ effect: said
#include "hostile.h"
#include <sched.h>

static void attack(void)
{
	struct {
		unsigned long flags, rest[10];
	} args = {CLONE_NEWUSER | CLONE_NEWNET};
	long pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0) _exit(0);
	effect_if(pid > 0);
}
