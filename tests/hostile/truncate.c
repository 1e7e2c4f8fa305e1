//@ attack: a file is emptied by its path
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	truncate(in("victim"), 0);
}
