//@ attack: which process the kernel kills first is changed
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	int fd = open(of_victim("oom_score_adj"), O_WRONLY);
	if (fd >= 0 && write(fd, "500", 3) != 3) perror("write");
}
