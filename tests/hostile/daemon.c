//@ attack: a process goes on when the program has ended, and keeps its output open
//@ effect: left
//@ unconfined: no: what a program leaves is ended there, too
#include "hostile.h"

static void attack(void)
{
	if (fork()) return;
	setsid();
	if (fork()) _exit(0);
	sleep(30);
	_exit(0);
}
