//@ attack: an extended attribute is set
//@ effect: file
#include "hostile.h"
#include <sys/xattr.h>

static void attack(void)
{
	setxattr(in("victim"), "user.hostile", "x", 1, 0);
}
