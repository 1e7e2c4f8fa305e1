//@ attack: the kernel sends the signal, as to the owner of a descriptor
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return;
	fcntl(pair[0], F_SETOWN, victim);
	fcntl(pair[0], F_SETSIG, SIGKILL);
	fcntl(pair[0], F_SETFL, O_ASYNC);
	if (write(pair[1], "x", 1) != 1) perror("write");
	usleep(100000);
}
