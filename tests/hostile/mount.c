//@ attack: a file system is mounted
//@ effect: mount
#include "hostile.h"
#include <sys/mount.h>

static void attack(void)
{
	mount("none", in("folder"), "tmpfs", 0, 0);
}
