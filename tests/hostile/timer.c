//@ attack: the kernel sends the signal, as of a timer
//@ effect: process
//@ unconfined: no: the kernel allows threads of the same process alone
#include "hostile.h"
#include <time.h>

static void attack(void)
{
	struct sigevent to = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGKILL};
	to._sigev_un._tid = victim;
	timer_t timer;
	if (timer_create(CLOCK_MONOTONIC, &to, &timer)) return;
	timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, 0);
	usleep(100000);
}
