#include "say.h"

struct vector { void *base; unsigned long len; };
struct pollfd { int fd; short events, revents; };


int main(void)
{
	char b[64];
	int ends[2];
	long n = sys(READ, 0, b, 4);
	bytes("stdin", b, n);
	say("there", sys(LSEEK, 0, 0, 1));
	show(LSEEK, 0, -2, 2);
	n = sys(READ, 0, b, 10);
	bytes("tail", b, n);
	show(READ, 0, b, 10);
	show(LSEEK, 0, -1, 0);
	show(LSEEK, 0, 0, 9);
	show(LSEEK, 0, 100, 0);
	show(READ, 0, b, 10);
	show(LSEEK, 1, 0, 1);
	show(LSEEK, 9, 0, 1);
	show(READ, 1, b, 1 - 1);
	show(READ, 77, b, 1);
	show(READ, -1, b, 1);
	show(WRITE, 0, b, 1);
	show(WRITE, 77, b, 1);
	show(WRITE, 1, 0, 5);
	show(WRITE, 1, 0, 0);
	show(READ, 0, 0, 0);
	sys(LSEEK, 0, 0, 0);
	show(READ, 0, 0, 5);
	n = show(PREAD, 0, b, 5, 4), n = sys(PREAD, 0, b, 5, 4);
	bytes("pread", b, n);
	show(PREAD, 0, b, 5, -1);
	show(PREAD, 1, b, 5, 0);
	char c[3], d[8];
	struct vector in[] = {{c, 3}, {0, 0}, {d, 8}};
	say("readv", sys(READV, 0, in, 3));
	bytes("first", c, 3), bytes("second", d, 8);
	struct vector out[] = {{"one ", 4}, {"two\n", 4}};
	show(WRITEV, 1, out, 2);
	show(WRITEV, 1, out, -1);
	show(WRITEV, 1, out, 2000);

	show(DUP, 0);
	show(DUP, 50);
	show(DUP2, 0, 9);
	show(DUP2, 9, 9);
	show(DUP2, 50, 50);
	show(DUP2, 0, -1);
	show(DUP2, 0, 100000);
	show(DUP3, 0, 0, 0);
	show(DUP3, 0, 10, CLOEXEC);
	show(DUP3, 0, 10, 1);
	show(FCNTL, 10, 1);
	show(FCNTL, 9, 1);
	show(FCNTL, 9, 2, 1);
	show(FCNTL, 9, 1);
	show(FCNTL, 0, 0, 20);
	show(FCNTL, 0, 1030, 20);
	show(FCNTL, 21, 1);
	show(FCNTL, 0, 0, -1);
	show(FCNTL, 50, 3);
	show(FCNTL, 0, 99);
	say("access mode of stdin", sys(FCNTL, 0, 3) & 3);
	say("access mode of stdout", sys(FCNTL, 1, 3) & 3);
	show(CLOSE, 9);
	show(CLOSE, 9);
	sys(LSEEK, 0, 7, 0);
	show(LSEEK, 10, 0, 1);
	show(CLOSE, 3);
	show(DUP, 0);

	show(PIPE, ends);
	say("read end", ends[0]), say("write end", ends[1]);
	show(WRITE, ends[1], "through", 7);
	show(WRITE, ends[0], "x", 1);
	show(READ, ends[1], b, 1);
	n = sys(READ, ends[0], b, 3);
	bytes("pipe", b, n);
	show(LSEEK, ends[0], 0, 0);
	show(CLOSE, ends[1]);
	n = sys(READ, ends[0], b, 30);
	bytes("pipe", b, n);
	show(READ, ends[0], b, 30);
	show(PIPE2, ends, 3);
	show(PIPE, 0);
	show(IOCTL, 0, 0x5401, b);
	show(IOCTL, 1, 0x5413, b);
	show(IOCTL, 99, 0x5413, b);
	struct pollfd fds[] = {{0, 1, 0}, {1, 4, 0}, {99, 1, 0}, {-1, 1, 0}};
	show(POLL, fds, 4, 0);
	for (int i = 0; i < 4; i++) say("revents", fds[i].revents);
	show(FSYNC, 99);
	show(FSYNC, 1);
	return 3;
}
