//@ attack: control groups are changed (opened, not written)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	effect_if(open("/sys/fs/cgroup/cgroup.procs", O_WRONLY) >= 0 || open("/sys/fs/cgroup/pids/cgroup.procs", O_WRONLY) >= 0);
}
