//@ attack: a file is written through a shared mapping
//@ effect: file
#include "hostile.h"
#include <sys/mman.h>

static void attack(void)
{
	int fd = open(in("victim"), O_RDWR);
	char *at = mmap(0, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED) {
		at[0] = 'X';
		msync(at, 4, MS_SYNC);
	}
}
