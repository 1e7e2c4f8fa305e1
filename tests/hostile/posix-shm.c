//@ attack: a file in /dev/shm, shared memory of other programs, is written
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	append(getenv("HOSTILE_SHM"));
}
