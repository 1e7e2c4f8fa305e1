//@ attack: settings of the kernel are changed through /sys (opened, not written)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	const char *files[] = {"/sys/kernel/mm/transparent_hugepage/enabled", "/sys/power/state", "/sys/kernel/profiling", "/sys/module/printk/parameters/time"};
	for (int i = 0; i < 4; i++) effect_if(open(files[i], O_WRONLY) >= 0);
}
