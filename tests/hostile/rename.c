//@ attack: a file is renamed
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	char to[4096];
	snprintf(to, sizeof to, "%s/renamed", arena);
	rename(in("victim"), to);
}
