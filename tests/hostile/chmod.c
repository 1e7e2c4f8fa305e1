//@ attack: permissions are changed by path
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	chmod(in("victim"), 0777);
}
