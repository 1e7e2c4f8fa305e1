//@ attack: the ports of devices are reached
//@ effect: said
//@ unconfined: maybe: a kernel may have none
#include "hostile.h"
#include <sys/io.h>

static void attack(void)
{
	effect_if(!ioperm(0x80, 1, 1));
}
