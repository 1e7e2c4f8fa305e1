//@ attack: limits of another process are changed
//@ effect: process
#include "hostile.h"
#include <sys/resource.h>

static void attack(void)
{
	struct rlimit limit = {7, 7};
	prlimit(victim, RLIMIT_NOFILE, &limit, 0);
}
