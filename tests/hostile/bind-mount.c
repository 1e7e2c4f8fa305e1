//@ attack: a folder is mounted over another
//@ effect: mount
#include "hostile.h"
#include <sys/mount.h>

static void attack(void)
{
	mount("/etc", in("folder"), 0, MS_BIND, 0);
}
