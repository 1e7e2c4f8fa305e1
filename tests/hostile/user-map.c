//@ attack: another user is become
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(!getuid() && !setuid(12345));
}
