//@ attack: memory without end, in a mapping that processes share
//@ effect: left
//@ limit: memory
//@ unconfined: no: the limit holds there, too
#include "hostile.h"
#include <sys/mman.h>

static void attack(void)
{
	for (int i = 0; i < 4; i++)
		if (fork() == 0) break;
	char *at = mmap(0, 4ul << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (size_t i = 0; at != MAP_FAILED && i < 4ul << 30; i += 4096) at[i] = 1;
	sleep(60);
}
