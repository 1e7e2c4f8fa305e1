//@ attack: a folder is made
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	mkdir(in("made"), 0700);
}
