//@ attack: the name of the machine is set (to what it is)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	char name[256];
	gethostname(name, sizeof name);
	effect_if(!sethostname(name, strlen(name)));
}
