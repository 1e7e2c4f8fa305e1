//@ attack: a program is named that the kernel runs when another dies (opened, not written)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0);
}
