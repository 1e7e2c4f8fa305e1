//@ attack: the machine is restarted (with a wrong number, which is looked at after the power to do so)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(syscall(SYS_reboot, 0, 0, 0, 0) == -1 && errno == EINVAL);
}
