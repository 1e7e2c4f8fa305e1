//@ attack: a process is killed by a system call of i386
//@ effect: process
#include "hostile.h"

static void attack(void)
{
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(37), "b"(victim), "c"(SIGKILL) : "memory");
}
