//@ attack: a service of this machine is reached by TCP
//@ effect: socket
#include "hostile.h"
#include <netinet/in.h>

static void attack(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (!connect(fd, (struct sockaddr *)&to, sizeof to) && write(fd, "hostile\n", 8) != 8) perror("write");
}
