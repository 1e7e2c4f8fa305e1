//@ attack: a message queue is made
//@ effect: said
//@ unconfined: no: the limit of queues holds there, too
#include "hostile.h"
#include <mqueue.h>

static void attack(void)
{
	mqd_t made = mq_open("/wryneck-hostile", O_CREAT | O_RDWR, 0600, 0);
	effect_if(made != (mqd_t)-1);
	mq_unlink("/wryneck-hostile");
}
