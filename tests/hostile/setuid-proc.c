//@ attack: another user is become, whose processes are then reached
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	struct stat about;
	if (stat(in("victim"), &about)) return;
	if (!getuid() && setresuid(about.st_uid, about.st_uid, about.st_uid)) return;
	char path[8192];
	snprintf(path, sizeof path, "%s%s/victim", of_victim("root"), arena);
	append(path);
}
