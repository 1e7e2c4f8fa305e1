//@ attack: a file system is mounted by the new calls
//@ effect: mount
#include "hostile.h"

static void attack(void)
{
	int context = syscall(SYS_fsopen, "tmpfs", 0);
	syscall(SYS_fsconfig, context, 6, 0, 0, 0);
	int made = syscall(SYS_fsmount, context, 0, 0);
	syscall(SYS_move_mount, made, "", AT_FDCWD, in("folder"), 4);
}
