//@ attack: a file is emptied by opening it
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	close(open(in("victim"), O_WRONLY | O_TRUNC));
}
