//@ attack: calls are made by the kernel, past the filter
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	static char parameters[120];
	effect_if(syscall(SYS_io_uring_setup, 4, parameters) >= 0);
}
