//@ attack: a message is put into the queue of another program
//@ effect: ipc
#include "hostile.h"
#include <sys/msg.h>

static void attack(void)
{
	struct {
		long type;
		char text;
	} message = {1, 1};
	msgsnd(queue, &message, 1, IPC_NOWAIT);
}
