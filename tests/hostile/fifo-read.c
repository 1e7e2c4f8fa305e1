//@ attack: what another program has written into a FIFO is taken
//@ effect: fifo
#include "hostile.h"

static void attack(void)
{
	int fd = open(in("full-fifo"), O_RDONLY | O_NONBLOCK);
	char taken[100];
	if (fd >= 0 && read(fd, taken, sizeof taken) < 0) perror("read");
}
