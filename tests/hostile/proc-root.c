//@ attack: a file is reached through the root of another process
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	char path[8192];
	snprintf(path, sizeof path, "%s%s/victim", of_victim("root"), arena);
	append(path);
}
