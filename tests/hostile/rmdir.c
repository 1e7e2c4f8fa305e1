//@ attack: a folder is removed
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	rmdir(in("folder"));
}
