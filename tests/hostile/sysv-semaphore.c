//@ attack: a semaphore of another program is raised
//@ effect: ipc
#include "hostile.h"
#include <sys/sem.h>

static void attack(void)
{
	semop(semaphores, &(struct sembuf){.sem_op = 1}, 1);
}
