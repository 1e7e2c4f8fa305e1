//@ attack: permissions are changed by a descriptor that was opened to read
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	fchmod(open(in("victim"), O_RDONLY), 0777);
}
