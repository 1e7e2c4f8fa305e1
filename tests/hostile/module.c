//@ attack: a module is loaded into the kernel (of which nothing is one)
//@ effect: said
//@ unconfined: maybe: a kernel may have no modules
#include "hostile.h"

static void attack(void)
{
	effect_if(syscall(SYS_init_module, "not a module", 12, "") == -1 && errno != EPERM && errno != ENOSYS);
}
