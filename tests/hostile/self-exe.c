//@ attack: the program file is overwritten through /proc/self/exe
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n < 0) return;
	path[n] = 0;
	char *name = strrchr(path, '/');
	if (!name || strcmp(name, "/self-exe")) return;
	unlink(path);
}
