//@ attack: namespaces are made, with all powers inside
//@ effect: said
#include "hostile.h"
#include <sched.h>

static void attack(void)
{
	effect_if(!unshare(CLONE_NEWUSER | CLONE_NEWNS));
}
