//@ attack: the namespaces of another process are entered
//@ effect: file
#include "hostile.h"
#include <sched.h>

static void attack(void)
{
	int root = open(of_victim("ns/mnt"), O_RDONLY);
	if (setns(root, CLONE_NEWNS)) return;
	append(in("victim"));
}
