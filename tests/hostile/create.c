//@ attack: a file is made
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	close(open(in("made"), O_WRONLY | O_CREAT, 0600));
}
