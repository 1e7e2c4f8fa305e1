//@ attack: a datagram is sent to a socket in the file system, as to the system log
//@ effect: socket
#include "hostile.h"

static void attack(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof to.sun_path, "%s/datagram", arena);
	sendto(fd, "hostile\n", 8, 0, (struct sockaddr *)&to, sizeof to);
}
