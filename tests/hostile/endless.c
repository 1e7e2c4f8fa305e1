//@ attack: processor time without end, whatever signal comes
//@ effect: left
//@ limit: wall time
//@ unconfined: no: the limit holds there, too
#include "hostile.h"

static void attack(void)
{
	for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
	for (;;) {}
}
