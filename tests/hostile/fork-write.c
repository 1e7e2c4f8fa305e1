//@ attack: a grandchild in a session of its own writes after the program has ended
//@ effect: file
//@ unconfined: no: what a program leaves is ended there, too
//@ wait: 400
#include "hostile.h"

static void attack(void)
{
	if (fork()) return;
	setsid();
	if (fork()) _exit(0);
	usleep(300000);
	append(in("victim"));
	_exit(0);
}
