// What hostile programs share. `attack` is run natively alone: symbolically it is not reached, so that there is something to replay.
// The gate (xtask/src/cmd/gate/hostile) gives: the arena, a folder with what may be attacked; the victim, a process; a TCP port; and the
// numbers of a segment, a semaphore set and a queue of System V.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *arena = ".";
static int victim, port, segment, semaphores, queue;

static void attack(void);

// A path in the arena.
static inline const char *in(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/%s", arena, name);
	return path;
}

// A path in the victim's part of /proc.
static inline const char *of_victim(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "/proc/%d/%s", victim, name);
	return path;
}

// For powers over the machine, which are shown to be there but not used.
static inline void effect(void)
{
	puts("EFFECT");
	fflush(stdout);
}

static inline void effect_if(int reached)
{
	if (reached) effect();
}

// Appends a line to a file, if it can be opened.
static inline void append(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	if (fd >= 0) {
		if (write(fd, "hostile\n", 8) != 8) perror(path);
		close(fd);
	}
}

#ifdef DIRECT
#define ATTACKS 1
#else
#include "wryneck.h"
#define ATTACKS wryneck_is_replay()
#endif

int main(int argc, char **argv)
{
	if (argc > 1) arena = argv[1];
	if (argc > 6) {
		victim = atoi(argv[2]);
		port = atoi(argv[3]);
		segment = atoi(argv[4]);
		semaphores = atoi(argv[5]);
		queue = atoi(argv[6]);
	}
	if (ATTACKS) attack();
	if (argc > 2 && argv[argc - 1][0] == 'f') abort();
	return 0;
}
