#include "say.h"

int main(void)
{
	long pair[4], action[4] = {0}, old[4] = {9, 9, 9, 9};
	unsigned char random[16];
	show(KILL, 999999, 0);
	show(SIGACTION, 0, 0, 0, 8);
	show(SIGACTION, 9, action, 0, 8);
	show(SIGACTION, 65, 0, 0, 8);
	action[0] = 1;
	show(SIGACTION, 10, action, old, 8);
	say("old handler", old[0]);
	show(SIGACTION, 10, 0, old, 8);
	say("old handler", old[0]);
	unsigned long mask = 1 << 3, before = 99;
	show(SIGPROCMASK, 0, &mask, &before, 8);
	say("mask", before);
	show(SIGPROCMASK, 0, 0, &before, 8);
	say("mask", before);
	show(SIGPROCMASK, 1, &mask, &before, 8);
	show(SIGPROCMASK, 2, 0, &before, 8);
	say("mask", before);
	show(SIGPROCMASK, 9, &mask, 0, 8);
	show(GETRLIMIT, 99, pair);
	show(GETRANDOM, random, 16, 0);
	show(GETRANDOM, random, 16, 99);
	show(GETRANDOM, random, 0, 0);
	show(CLOCK_GETTIME, 99, pair);
	show(CLOCK_GETTIME, 0, 0);
	long a[2], b[2];
	show(CLOCK_GETTIME, 1, a);
	show(CLOCK_GETTIME, 1, b);
	say("time goes on", b[0] > a[0] || (b[0] == a[0] && b[1] > a[1]));
	pair[0] = 0, pair[1] = 1000000000;
	show(NANOSLEEP, pair, 0);
	pair[1] = -1;
	show(NANOSLEEP, pair, 0);
	pair[1] = 5;
	show(NANOSLEEP, pair, 0);
	char name[390];
	show(UNAME, name);
	bytes("machine", name + 4 * 65, 6);
	bytes("system", name, 5);

	show(MMAP, 0, 0, 3, 0x22, -1, 0);
	show(MMAP, 0, 4096, 3, 0x20, -1, 0);
	show(MMAP, 0, 4096, 3, 2, 77, 0);
	show(MMAP, 0, 4096, 3, 0x22, -1, 5);
	char *p = (char *)sys(MMAP, 0, 10000, 3, 0x22, -1, 0);
	say("aligned", (long)p % 4096);
	say("zero", p[0] + p[9999] + p[12287]);
	p[12287] = 5;
	say("written", p[12287]);
	say("in memory", sys(MINCORE, p + 8192, 4096, random));
	say("its page", random[0] & 1);
	say("unaligned", sys(MINCORE, p + 1, 4096, random));
	say("nothing there", sys(MINCORE, 4096, 4096, random));
	show(MPROTECT, p + 1, 4096, 1);
	show(MUNMAP, p + 1, 4096);
	say("unmap", sys(MUNMAP, p, 10000));
	p = (char *)sys(MMAP, 0, 4096, 1, 2, 0, 0);
	bytes("mapped input", p, 9);
	say("after its end", p[4095]);
	say("unmap nothing", sys(MUNMAP, p, 0));
	say("unknown system call", sys(1000));
	return 300;
}
