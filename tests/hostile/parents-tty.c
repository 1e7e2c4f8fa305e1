//@ attack: the terminal is reached by the descriptors of other processes
//@ effect: terminal
//@ unconfined: no: the init has closed its own
#include "hostile.h"

static void attack(void)
{
	char path[100];
	for (int pid = getppid(), i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, i);
		append(path);
	}
}
