//@ attack: the priority of all processes of the user is changed
//@ effect: process
#include "hostile.h"
#include <sys/resource.h>

static void attack(void)
{
	if (getuid()) setpriority(PRIO_USER, getuid(), 19);
}
