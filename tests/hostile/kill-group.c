//@ attack: a group of processes is killed
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	kill(-victim, SIGKILL);
}
