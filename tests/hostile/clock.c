//@ attack: how the clock runs is set (to what it is)
//@ effect: said
#include "hostile.h"
#include <sys/timex.h>

static void attack(void)
{
	struct timex now = {0};
	adjtimex(&now);
	now.modes = ADJ_TICK;
	effect_if(adjtimex(&now) >= 0);
}
