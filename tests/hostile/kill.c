//@ attack: a process is killed
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	kill(victim, SIGKILL);
}
