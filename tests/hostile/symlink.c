//@ attack: a symbolic link is made
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	symlink("/etc/passwd", in("linked"));
}
