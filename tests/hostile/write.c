//@ attack: a file of the user is written
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	append(in("victim"));
}
