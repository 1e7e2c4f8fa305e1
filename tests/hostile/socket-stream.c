//@ attack: a service is reached by a socket in the file system
//@ effect: socket
#include "hostile.h"

static void attack(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof to.sun_path, "%s/stream", arena);
	if (!connect(fd, (struct sockaddr *)&to, sizeof to) && write(fd, "hostile\n", 8) != 8) perror("write");
}
