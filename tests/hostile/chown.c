//@ attack: a file is given away, or to the same owner, which clears bits
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	chown(in("victim"), getuid(), getgid());
}
