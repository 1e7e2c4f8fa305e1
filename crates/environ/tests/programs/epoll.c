#include "say.h"

enum { SHUTDOWN = 48, SOCKET = 41, CONNECT, ACCEPT, BIND = 49, LISTEN, SOCKETPAIR = 53, EPOLL_CREATE = 213, EPOLL_WAIT = 232, EPOLL_CTL, EPOLL_PWAIT = 281, EVENTFD = 284, EVENTFD2 = 290, EPOLL_CREATE1, EPOLL_PWAIT2 = 441 };
enum { ADD = 1, DEL, MOD };
enum { IN = 1, PRI = 2, OUT = 4, ERR = 8, HUP = 16, RDNORM = 64, WRNORM = 256, RDHUP = 0x2000, ONESHOT = 1 << 30 };
#define EXCLUSIVE (1u << 28)
#define ET (1u << 31)

struct event { unsigned events; unsigned long data; } __attribute__((packed));

static int add(int ep, int fd, unsigned events, unsigned long data)
{
	struct event e = {events, data};
	return sys(EPOLL_CTL, ep, ADD, fd, &e);
}

static int mod(int ep, int fd, unsigned events, unsigned long data)
{
	struct event e = {events, data};
	return sys(EPOLL_CTL, ep, MOD, fd, &e);
}

static void wait_most(const char *what, int ep, int most)
{
	struct event e[20];
	long n = sys(EPOLL_WAIT, ep, e, most, 0);
	say(what, n);
	for (int i = 0; i < n; i++) say("  events", e[i].events), say("  data", e[i].data);
}

#define wait(ep) wait_most(#ep, ep, 20)

static void refused(void)
{
	struct event e = {IN, 7};
	int p[2], ep, other;
	show(EPOLL_CREATE, 0);
	show(EPOLL_CREATE, -1);
	show(EPOLL_CREATE1, 1);
	ep = sys(EPOLL_CREATE, 1);
	show(FCNTL, ep, 1), show(FCNTL, ep, 3);
	other = sys(EPOLL_CREATE1, CLOEXEC);
	show(FCNTL, other, 1), show(FCNTL, other, 3);
	sys(PIPE, p);
	say("a file", add(ep, 0, IN, 0));
	say("a closed one", add(ep, 77, IN, 0));
	say("a closed instance", add(77, p[0], IN, 0));
	say("both closed", add(77, 78, IN, 0));
	say("no instance", add(p[1], p[0], IN, 0));
	say("no instance, a file", add(p[1], 0, IN, 0));
	say("itself", add(ep, ep, IN, 0));
	show(EPOLL_CTL, ep, ADD, p[0], 0);
	show(EPOLL_CTL, ep, 9, p[0], 0);
	show(EPOLL_CTL, ep, 9, p[0], &e);
	show(EPOLL_CTL, ep, 9, 77, &e);
	show(EPOLL_CTL, ep, DEL, p[0], 0);
	show(EPOLL_CTL, ep, DEL, p[0], &e);
	say("modify nothing", mod(ep, p[0], IN, 0));
	say("once", add(ep, p[0], IN, 1)), say("twice", add(ep, p[0], OUT, 2));
	say("modify", mod(ep, p[0], IN, 3));
	show(EPOLL_CTL, ep, DEL, p[0], 0);
	show(EPOLL_CTL, ep, DEL, p[0], 0);
	show(EPOLL_WAIT, ep, &e, 0, 0);
	show(EPOLL_WAIT, ep, &e, -1, 0);
	show(EPOLL_WAIT, ep, &e, 400000000, 0);
	show(EPOLL_WAIT, 77, &e, 1, 0);
	show(EPOLL_WAIT, 77, &e, 0, 0);
	show(EPOLL_WAIT, p[0], &e, 1, 0);
	show(EPOLL_WAIT, p[0], &e, 0, 0);
	show(EPOLL_WAIT, ep, 0, 1, 0);
	show(EPOLL_WAIT, ep, &e, 1, 3);
	long mask = 0, time[2] = {0, 1000}, wrong[2] = {0, 1000000000};
	show(EPOLL_PWAIT, ep, &e, 1, 1, &mask, 8);
	show(EPOLL_PWAIT, ep, &e, 1, 1, &mask, 4);
	show(EPOLL_PWAIT, ep, &e, 1, 1, 0, 4);
	show(EPOLL_PWAIT2, ep, &e, 1, time, 0, 8);
	show(EPOLL_PWAIT2, ep, &e, 1, wrong, 0, 8);
	say("exclusive", add(ep, p[0], IN | EXCLUSIVE, 0));
	say("exclusive, modified", mod(ep, p[0], IN, 0));
	say("modified to exclusive", mod(ep, p[0], IN | EXCLUSIVE, 0));
	say("exclusive, priority", add(ep, p[1], OUT | PRI | EXCLUSIVE, 0));
	say("exclusive, once", add(ep, p[1], OUT | EXCLUSIVE | ONESHOT, 0));
	say("exclusive, an instance", add(ep, other, IN | EXCLUSIVE, 0));
	say("read", sys(READ, ep, &e, 12)), say("write", sys(WRITE, ep, &e, 12)), say("read nothing", sys(READ, ep, &e, 0));
	show(LSEEK, ep, 0, 0), show(LSEEK, ep, 5, 1), show(PREAD, ep, &e, 1, 0), show(FSYNC, ep), show(FTRUNCATE, ep, 0), show(FCHDIR, ep);
	show(CLOSE, p[0]), show(CLOSE, p[1]), show(CLOSE, ep), show(CLOSE, other);
}

static void pipes(void)
{
	char b[70000];
	int p[2], q[2], ep = sys(EPOLL_CREATE1, 0), copy;
	sys(PIPE2, p, NONBLOCK), sys(PIPE2, q, NONBLOCK);
	add(ep, p[0], IN | RDHUP, 1), add(ep, p[1], OUT, 2), add(ep, q[0], IN | ET, 3), add(ep, q[1], OUT | ET, 4);
	wait(ep), wait(ep);
	sys(WRITE, q[1], "a", 1), sys(WRITE, p[1], "a", 1);
	wait(ep), wait(ep);
	sys(WRITE, q[1], "b", 1);
	wait(ep);
	sys(READ, q[0], b, 1);
	wait(ep);
	wait_most("one at a time", ep, 1), wait_most("one at a time", ep, 1), wait_most("one at a time", ep, 1);
	mod(ep, p[0], IN | ONESHOT, 11), mod(ep, p[1], OUT | ONESHOT, 12);
	wait(ep), wait(ep);
	sys(WRITE, p[1], "c", 1);
	wait(ep);
	mod(ep, p[0], IN, 21);
	wait(ep);
	mod(ep, q[0], IN | ET, 33);
	wait(ep), wait(ep);
	mod(ep, q[0], 0, 34), sys(WRITE, q[1], "b", 1);
	wait(ep);
	sys(READ, q[0], b, 70000);
	wait(ep);
	say("filled", sys(WRITE, q[1], b, 65536));
	wait(ep);
	say("full", sys(WRITE, q[1], b, 4096));
	sys(READ, q[0], b, 4096);
	wait(ep);
	mod(ep, q[1], OUT, 44);
	wait(ep);
	copy = sys(DUP, p[0]);
	say("again", add(ep, p[0], IN, 5)), say("copy", add(ep, copy, IN, 51));
	wait(ep);
	sys(CLOSE, p[0]);
	wait(ep);
	show(EPOLL_CTL, ep, DEL, p[0], 0);
	sys(DUP2, copy, p[0]);
	show(EPOLL_CTL, ep, DEL, p[0], 0);
	sys(CLOSE, p[1]);
	wait(ep);
	sys(CLOSE, p[0]), sys(CLOSE, copy);
	wait(ep);
	mod(ep, q[0], ET, 35);
	wait(ep);
	sys(CLOSE, q[1]);
	wait(ep), wait(ep);
	sys(CLOSE, q[0]), sys(CLOSE, ep);
	ep = sys(EPOLL_CREATE1, 0);
	sys(PIPE, p), add(ep, p[1], 0, 6), add(ep, p[0], 0, 7);
	wait(ep);
	sys(CLOSE, p[0]);
	wait(ep), wait(ep);
	sys(CLOSE, p[1]);
	say("standard output", add(ep, 1, OUT | IN | ET, 8));
	wait(ep), wait(ep);
	sys(CLOSE, ep);
}

static void copies(void)
{
	int p[2], ep = sys(EPOLL_CREATE1, 0), a, b;
	sys(PIPE, p), a = sys(DUP, p[0]), b = sys(DUP, p[0]);
	add(ep, p[0], IN | ET, 1), add(ep, a, IN | ET, 2), add(ep, b, IN | ET, 3);
	sys(WRITE, p[1], "a", 1);
	wait(ep);
	mod(ep, a, IN | ET, 22), mod(ep, p[0], IN, 11);
	wait(ep), wait(ep);
	sys(WRITE, p[1], "a", 1);
	wait_most("two of three", ep, 2);
	wait(ep);
	int again = sys(DUP, ep);
	wait(again);
	sys(CLOSE, ep);
	wait(again);
	sys(CLOSE, again), sys(CLOSE, p[0]), sys(CLOSE, p[1]), sys(CLOSE, a), sys(CLOSE, b);
}

static void counters(void)
{
	unsigned long n = 3;
	char b[16] = {0};
	int ep = sys(EPOLL_CREATE1, 0), e, s;
	show(EVENTFD2, 0, 2);
	e = sys(EVENTFD2, 0, NONBLOCK | CLOEXEC), s = sys(EVENTFD2, 2, NONBLOCK | 1);
	show(FCNTL, e, 1), show(FCNTL, e, 3), show(FCNTL, s, 1), show(FCNTL, s, 3);
	add(ep, e, IN | OUT | ET, 1), add(ep, s, IN, 2);
	wait(ep), wait(ep);
	show(READ, e, b, 8), show(READ, e, b, 4), show(READ, e, b, 0), show(WRITE, e, b, 4), show(WRITE, e, 0, 8), show(WRITE, e, b, 0);
	show(WRITE, e, &n, 8), show(WRITE, e, &n, 8);
	wait(ep), wait(ep);
	show(READ, e, b, 16), say("count", b[0]);
	wait(ep);
	n = -1, show(WRITE, e, &n, 8);
	n = -2, show(WRITE, e, &n, 8), show(WRITE, e, &n, 8);
	wait(ep);
	n = 1, show(WRITE, e, &n, 8);
	show(READ, s, b, 8), say("count", b[0]);
	show(READ, s, &n, 8), say("count", n);
	show(READ, s, b, 8);
	wait(ep);
	show(LSEEK, e, 0, 0), show(PREAD, e, b, 8, 0), show(FSYNC, e), show(IOCTL, e, 0x541b, b);
	struct { void *at; unsigned long n; } v[] = {{b, 3}, {b + 3, 9}};
	show(READV, e, v, 2);
	bytes("in two", b, 0), say("first", (unsigned char)b[0]), say("last", (unsigned char)b[7]);
	long st[18];
	show(FSTAT, e, st), say("mode", (unsigned)st[3]), show(FSTAT, ep, st), say("mode", (unsigned)st[3]);
	sys(CLOSE, e);
	wait(ep);
	e = sys(EVENTFD, 5), show(READ, e, &n, 8), say("count", n);
	sys(CLOSE, e), sys(CLOSE, s), sys(CLOSE, ep);
}

static void nested(void)
{
	int in[7], e = sys(EVENTFD2, 0, NONBLOCK);
	unsigned long n = 1;
	for (int i = 0; i < 7; i++) in[i] = sys(EPOLL_CREATE1, 0);
	for (int i = 0; i < 6; i++) say("chain", add(in[i], in[i + 1], IN, i));
	say("loop", add(in[3], in[0], IN, 9)), say("shorter loop", add(in[1], in[0], IN, 9)), say("above", add(in[5], in[0], IN, 9)), say("twice", add(in[0], in[1], IN, 9));
	sys(CLOSE, in[4]), sys(CLOSE, in[5]), sys(CLOSE, in[6]);
	say("event", add(in[2], e, IN | ET, 5));
	wait(in[0]), wait(in[1]), wait(in[2]);
	sys(WRITE, e, &n, 8);
	wait(in[0]), wait(in[1]), wait(in[2]), wait(in[1]), wait(in[0]);
	struct { int fd; short events, revents; } p[] = {{in[2], IN | OUT, 0}, {e, IN | OUT | RDNORM, 0}};
	show(POLL, p, 2, 0), say("revents", p[0].revents), say("revents", p[1].revents);
	mod(in[2], e, IN, 6);
	show(POLL, p, 2, 0), say("revents", p[0].revents), say("revents", p[1].revents);
	mod(in[1], in[2], IN | ET, 7);
	wait(in[0]), wait(in[0]), wait(in[1]), wait(in[1]);
	sys(WRITE, e, &n, 8);
	wait(in[1]), wait(in[0]);
	for (int i = 0; i < 4; i++) sys(CLOSE, in[i]);
	sys(CLOSE, e);
}

static void sockets(void)
{
	char b[16];
	int s[2], ep = sys(EPOLL_CREATE1, 0), l, c, a;
	show(SOCKETPAIR, 1, 1 | NONBLOCK, 0, s);
	add(ep, s[0], IN | OUT | RDHUP | ET, 1), add(ep, s[1], IN | RDHUP, 2);
	wait(ep), wait(ep);
	sys(WRITE, s[0], "hello", 5);
	wait(ep), wait(ep);
	sys(READ, s[1], b, 5);
	wait(ep), wait(ep);
	sys(WRITE, s[1], "hello", 5);
	wait(ep), wait(ep);
	sys(WRITE, s[1], "more", 4);
	wait(ep);
	show(SHUTDOWN, s[1], 1);
	wait(ep), wait(ep);
	sys(READ, s[0], b, 16);
	wait(ep);
	show(SHUTDOWN, s[1], 0);
	wait(ep), wait(ep);
	sys(CLOSE, s[1]);
	wait(ep), wait(ep);
	sys(CLOSE, s[0]);
	wait(ep);
	struct { short family; char name[14]; } to = {1, "\0wryneck epoll"};
	l = sys(SOCKET, 1, 1 | NONBLOCK, 0), c = sys(SOCKET, 1, 1 | NONBLOCK, 0);
	say("fresh", add(ep, l, IN | ET, 3)), say("fresh", add(ep, c, OUT, 4));
	wait(ep), wait(ep);
	show(BIND, l, &to, 16), show(LISTEN, l, 5);
	wait(ep);
	show(CONNECT, c, &to, 16);
	wait(ep), wait(ep);
	mod(ep, l, IN, 33);
	wait(ep);
	a = sys(ACCEPT, l, 0, 0);
	add(ep, a, IN | OUT | RDHUP, 5);
	wait(ep);
	sys(CLOSE, l);
	wait(ep);
	sys(CLOSE, c);
	wait(ep);
	sys(CLOSE, a), sys(CLOSE, ep);
}

int main(void)
{
	refused();
	pipes();
	copies();
	counters();
	nested();
	sockets();
	return 5;
}
