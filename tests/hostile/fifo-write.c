//@ attack: a FIFO that another program reads is written
//@ effect: fifo
#include "hostile.h"

static void attack(void)
{
	int fd = open(in("fifo"), O_WRONLY | O_NONBLOCK);
	if (fd >= 0 && write(fd, "hostile\n", 8) != 8) perror("write");
}
