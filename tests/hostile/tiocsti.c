//@ attack: input is put into the terminal, which the shell then runs
//@ effect: terminal
#include "hostile.h"
#include <sys/ioctl.h>

static void attack(void)
{
	int fd = open("/dev/tty", O_RDWR);
	for (const char *c = "hostile\n"; *c; c++) ioctl(fd, TIOCSTI, c);
	fd = open(getenv("HOSTILE_TTY"), O_RDWR | O_NOCTTY);
	for (const char *c = "hostile\n"; *c; c++) ioctl(fd, TIOCSTI, c);
	for (const char *c = "hostile\n"; *c; c++) ioctl(0, TIOCSTI, c);
}
