//@ attack: the memory of a process is written through /proc
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	unsigned long at = 0;
	char text[4096] = "", *field = text;
	int about = open(of_victim("stat"), O_RDONLY);
	if (about < 0 || read(about, text, sizeof text - 1) < 0) return;
	// The 48th field is where the arguments are; the second may have blanks.
	field = strrchr(text, ')');
	for (int i = 2; field && i < 48; i++) field = strchr(field + 1, ' ');
	if (field) at = strtoul(field + 1, 0, 10);
	int fd = open(of_victim("mem"), O_WRONLY);
	if (fd >= 0 && pwrite(fd, "X", 1, at) != 1) perror("write");
}
