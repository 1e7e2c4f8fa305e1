//@ attack: a file is reached through the root of process 1
//@ effect: file
//@ unconfined: maybe: process 1 may have another root
#include "hostile.h"

static void attack(void)
{
	char path[8192];
	snprintf(path, sizeof path, "/proc/1/root%s/victim", arena);
	append(path);
}
