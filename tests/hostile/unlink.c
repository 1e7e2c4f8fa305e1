//@ attack: a file is removed
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	unlink(in("victim"));
}
