//@ attack: times of a file are changed
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	utimensat(AT_FDCWD, in("victim"), 0, 0);
}
