//@ attack: a descriptor that the tool had open is used
//@ effect: file
//@ unconfined: no: descriptors are closed there, too
#include "hostile.h"

static void attack(void)
{
	for (int fd = 3; fd < 1024; fd++)
		if (write(fd, "hostile\n", 8) == 8) return;
}
