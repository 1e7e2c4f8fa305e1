//@ attack: page faults of the kernel are handled by the program
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(syscall(SYS_userfaultfd, 0) >= 0);
}
