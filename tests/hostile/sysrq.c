//@ attack: the kernel is commanded through /proc (opened, not written)
//@ effect: said
//@ unconfined: maybe: a kernel may have none
#include "hostile.h"

static void attack(void)
{
	effect_if(open("/proc/sysrq-trigger", O_WRONLY) >= 0);
}
