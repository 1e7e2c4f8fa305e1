//@ attack: the processors of another process are changed
//@ effect: process
#include "hostile.h"
#include <sched.h>

static void attack(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(victim, sizeof set, &set);
}
