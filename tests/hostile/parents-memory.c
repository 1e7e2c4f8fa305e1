//@ attack: the memory of the process that started it is opened
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	char path[100];
	snprintf(path, sizeof path, "/proc/%d/mem", getppid());
	effect_if(open(path, O_RDWR) >= 0);
}
