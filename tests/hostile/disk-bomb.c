//@ attack: files without end
//@ effect: left
//@ unconfined: no: the limit holds there, too
#include "hostile.h"

static void attack(void)
{
	static char block[1 << 20];
	char name[100];
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "file%d", i);
		int fd = open(name, O_WRONLY | O_CREAT, 0600);
		if (fd < 0 || write(fd, block, sizeof block) != sizeof block) return;
		close(fd);
	}
	effect();
}
