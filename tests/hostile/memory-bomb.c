//@ attack: memory without end
//@ effect: left
//@ limit: memory
//@ unconfined: no: the limit holds there, too
#include "hostile.h"

static void attack(void)
{
	for (;;) memset(malloc(1 << 20), 1, 1 << 20);
}
