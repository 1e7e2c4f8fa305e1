//@ attack: a disk is opened
//@ effect: said
//@ unconfined: maybe: a machine may give no disk to its root
#include "hostile.h"

static void attack(void)
{
	char line[300], name[200], path[300];
	FILE *list = fopen("/proc/partitions", "r");
	while (list && fgets(line, sizeof line, list))
		if (sscanf(line, "%*d %*d %*d %199s", name) == 1) {
			snprintf(path, sizeof path, "/dev/%s", name);
			effect_if(open(path, O_RDONLY) >= 0);
		}
}
