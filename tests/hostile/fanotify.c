//@ attack: what is opened on the whole machine is watched and decided
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(syscall(SYS_fanotify_init, 0x4, O_RDONLY) >= 0);
}
