//@ attack: shared memory of another program is written
//@ effect: ipc
#include "hostile.h"
#include <sys/shm.h>

static void attack(void)
{
	char *at = shmat(segment, 0, 0);
	if (at != (char *)-1) at[0] = 1;
}
