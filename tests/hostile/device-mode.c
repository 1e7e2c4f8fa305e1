//@ attack: permissions of a device are set (to what they are)
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	struct stat about;
	if (!stat("/dev/null", &about)) effect_if(!chmod("/dev/null", about.st_mode & 07777));
}
