//@ attack: the program of the process that started it is opened, as to overwrite it
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	char path[100];
	snprintf(path, sizeof path, "/proc/%d/exe", getppid());
	effect_if(open(path, O_RDONLY) >= 0);
}
