//@ attack: processes without end
//@ effect: left
//@ limit: processes
//@ unconfined: no: the limit holds there, too
#include "hostile.h"

static void attack(void)
{
	for (int i = 0; i < 200; i++) {
		if (fork() == 0) {
			signal(SIGTERM, SIG_IGN);
			setsid();
			sleep(60);
			_exit(0);
		}
	}
	sleep(60);
}
