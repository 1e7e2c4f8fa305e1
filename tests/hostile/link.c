//@ attack: a file gets another name
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	char to[4096];
	snprintf(to, sizeof to, "%s/linked", arena);
	link(in("victim"), to);
}
