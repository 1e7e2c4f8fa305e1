//@ attack: a line is put into the log of the kernel (opened, not written)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(open("/dev/kmsg", O_WRONLY) >= 0);
}
