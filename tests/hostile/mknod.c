//@ attack: a device is made and opened
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	if (!mknod("device", S_IFCHR | 0600, 0x103)) effect_if(open("device", O_RDONLY) >= 0);
}
