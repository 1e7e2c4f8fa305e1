//@ attack: a service is reached by an abstract socket
//@ effect: socket
#include "hostile.h"

static void attack(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int n = snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "wryneck-hostile-%d", victim);
	if (!connect(fd, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + 1 + n) && write(fd, "hostile\n", 8) != 8) perror("write");
}
