//@ attack: a datagram is sent elsewhere by a socket that was connected
//@ effect: socket
#include "hostile.h"

static void attack(void)
{
	int pair[2];
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) return;
	snprintf(to.sun_path, sizeof to.sun_path, "%s/datagram", arena);
	sendto(pair[0], "hostile\n", 8, 0, (struct sockaddr *)&to, sizeof to);
}
