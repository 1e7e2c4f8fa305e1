//@ attack: how another process is scheduled is changed
//@ effect: process
#include "hostile.h"
#include <sched.h>

static void attack(void)
{
	sched_setscheduler(victim, SCHED_BATCH, &(struct sched_param){0});
}
