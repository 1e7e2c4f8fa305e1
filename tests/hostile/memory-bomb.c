//@ attack: memory without end
//@ effect: left
//@ limit: memory
//@ unconfined: no: the limit holds there, too
#include "hostile.h"

static void attack(void)
{
	for (;;) {
		volatile char *at = malloc(1 << 20);
		for (int i = 0; i < 1 << 20; i += 512) at[i] = 1;
	}
}
