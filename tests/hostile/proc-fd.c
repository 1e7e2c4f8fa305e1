//@ attack: a file that another process has open is written
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	append(of_victim("fd/1"));
}
