//@ attack: a file is reached through the working directory of another process
//@ effect: file
#include "hostile.h"

static void attack(void)
{
	append(of_victim("cwd/victim"));
}
