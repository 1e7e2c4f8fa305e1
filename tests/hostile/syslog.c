//@ attack: the log of the kernel is read
//@ effect: said
#include "hostile.h"

static void attack(void)
{
	char text[100];
	effect_if(syscall(SYS_syslog, 3, text, sizeof text) >= 0);
}
