//@ attack: the priority of another process is changed
//@ effect: process
#include "hostile.h"
#include <sys/resource.h>

static void attack(void)
{
	setpriority(PRIO_PROCESS, victim, 19);
}
