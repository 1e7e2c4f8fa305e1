/* Native replay of clients (--sym-socket): linked with a program beside replay.c, it has the test's clients connect.
 *
 * A stream of the internet's families is a local one here, bound to a name that the kernel chooses, so that no network is needed, and every call
 * but those below is the kernel's. When the program listens, the clients of its port connect at once, in the order of the test: each sends its
 * input `socket_PORT`, ends its stream, and reads what it is sent. What the calls below say is what the explored path saw.
 *
 * Clients are a process that the program cannot wait for. Every definition is weak: a program's own goes first. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define WEAK __attribute__((weak, visibility("default")))

enum { CLIENTS = 64, SOCKETS = 256, FIRST_PORT = 40000, DESCRIPTORS = 1024 };

/* Of replay.c: the bytes of a client, its port, and whether it is a datagram; 0, if there is none of this number. Its own calls do not fail. */
int wryneck_client(int number, int *port, int *datagram, const unsigned char **bytes, size_t *size);
void wryneck_own_calls(int begin);

/* A socket that stands for one of the internet: known by its inode, so that duplicates are known, too. */
static struct inet {
	ino_t inode;
	int family, datagrams, bound, listens;
	uint16_t port, peer; /* `peer`: of an accepted one */
	unsigned char host[16];
	int first, last, clients[CLIENTS];
} sockets[SOCKETS];
static int known, served[CLIENTS];

static ino_t inode(int fd)
{
	struct stat s;
	return fstat(fd, &s) || !S_ISSOCK(s.st_mode) ? 0 : s.st_ino;
}

static struct inet *inet(int fd)
{
	ino_t at = known ? inode(fd) : 0;
	for (int i = 0; at && i < known; i++)
		if (sockets[i].inode == at) return &sockets[i];
	return 0;
}

static struct inet *note(int fd, int family)
{
	ino_t at = inode(fd);
	struct inet *s = inet(fd);
	if (!s && known < SOCKETS) s = &sockets[known++];
	if (!s) return 0;
	*s = (struct inet) {.inode = at, .family = family};
	return s;
}

static int refuse(int error) { return errno = error, -1; }

static void host(unsigned char *at, int family, int any)
{
	memset(at, 0, 16);
	if (any) return;
	if (family == AF_INET) memcpy(at, "\x7f\0\0\1", 4);
	else at[15] = 1;
}

/* Writes an address where the program wants it, as far as there is room. */
static int put(struct sockaddr *to, socklen_t *room, int family, uint16_t port, const unsigned char *host)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	memcpy(&four.sin_addr, host, 4);
	memcpy(&six.sin6_addr, host, 16);
	socklen_t size = family == AF_INET ? sizeof four : sizeof six;
	memcpy(to, family == AF_INET ? (void *)&four : (void *)&six, *room < size ? *room : size);
	*room = size;
	return 0;
}

/* Reads what is sent to the clients until each is closed, with nothing else open. */
static _Noreturn void read_all(const int *ends, int count)
{
	struct pollfd open[CLIENTS];
	static char bytes[1 << 16];
	int left = count;
	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		int is_end = 0;
		for (int i = 0; i < count; i++) is_end |= ends[i] == fd;
		if (!is_end) syscall(SYS_close, fd);
	}
	for (int i = 0; i < count; i++) open[i] = (struct pollfd) {ends[i], POLLIN, 0};
	while (left) {
		syscall(SYS_poll, open, count, -1);
		for (int i = 0; i < count; i++) {
			if (!open[i].revents || syscall(SYS_read, open[i].fd, bytes, sizeof bytes) > 0) continue;
			syscall(SYS_close, open[i].fd);
			open[i].fd = -1;
			left--;
		}
	}
	for (;;) syscall(SYS_exit_group, 0);
}

/* The clients of a port connect. */
static void connect_all(int listener, struct inet *s)
{
	int ends[CLIENTS], count = 0, port, datagram;
	const unsigned char *bytes;
	size_t size;
	struct sockaddr_un name;
	socklen_t length = sizeof name;
	if (syscall(SYS_getsockname, listener, &name, &length)) return;
	for (int i = 0; i < CLIENTS && wryneck_client(i, &port, &datagram, &bytes, &size); i++) {
		if (port != s->port || datagram != s->datagrams || served[i]) continue;
		int end = syscall(SYS_socket, AF_UNIX, (datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
		if (end < 0 || syscall(SYS_connect, end, &name, length)) continue;
		if (datagram) syscall(SYS_sendto, end, bytes, size, MSG_NOSIGNAL, 0, 0);
		while (size && !datagram) {
			long sent = syscall(SYS_sendto, end, bytes, size, MSG_NOSIGNAL, 0, 0);
			if (sent <= 0) break;
			bytes += sent, size -= sent;
		}
		syscall(SYS_shutdown, end, SHUT_WR);
		served[i] = 1;
		s->clients[s->last++] = i;
		if (datagram) syscall(SYS_close, end);
		else ends[count++] = end;
	}
	/* Without a signal at its end, so that `wait` does not find it. */
	if (count && !syscall(SYS_clone, 0, 0, 0, 0, 0)) read_all(ends, count);
	for (int i = 0; i < count; i++) syscall(SYS_close, ends[i]);
}

WEAK int socket(int family, int kind, int protocol)
{
	int of = kind & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
	int is_known = of == SOCK_STREAM ? !protocol || protocol == IPPROTO_TCP : of == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP);
	if (!is_known || (family != AF_INET && family != AF_INET6)) return syscall(SYS_socket, family, kind, protocol);
	int fd = syscall(SYS_socket, AF_UNIX, kind, 0);
	struct inet *s = fd < 0 ? 0 : note(fd, family);
	if (s) s->datagrams = of == SOCK_DGRAM;
	return fd;
}

WEAK int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct inet *s = inet(fd);
	if (!s) return syscall(SYS_bind, fd, address, length);
	const unsigned char *bytes = (const unsigned char *)address;
	int is_four = s->family == AF_INET;
	if (length < (is_four ? 16 : 24)) return refuse(EINVAL);
	if (address->sa_family != s->family) return refuse(EAFNOSUPPORT);
	unsigned char here[16], where[16] = {0}, any[16] = {0};
	memcpy(where, bytes + (is_four ? 4 : 8), is_four ? 4 : 16);
	host(here, s->family, 0);
	int is_any = !memcmp(where, any, 16);
	if (!is_any && (is_four ? where[0] != 127 : memcmp(where, here, 16))) return refuse(EADDRNOTAVAIL);
	if (s->bound) return refuse(EINVAL);
	uint16_t port = bytes[2] << 8 | bytes[3];
	for (int i = 0; i < known; i++)
		if ((s->datagrams ? sockets[i].datagrams && sockets[i].bound : sockets[i].listens) && sockets[i].family == s->family && sockets[i].port == port) return refuse(EADDRINUSE);
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	if (syscall(SYS_bind, fd, &name, sizeof name.sun_family)) return -1;
	s->bound = 1, s->port = port;
	memcpy(s->host, where, 16);
	wryneck_own_calls(1);
	if (s->datagrams) connect_all(fd, s);
	wryneck_own_calls(0);
	return 0;
}

WEAK int listen(int fd, int most)
{
	struct inet *s = inet(fd);
	int done = syscall(SYS_listen, fd, s ? CLIENTS : most);
	if (!s || done || s->listens++) return done;
	wryneck_own_calls(1);
	connect_all(fd, s);
	wryneck_own_calls(0);
	return 0;
}

WEAK int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict room, int flags)
{
	struct inet *s = inet(fd);
	if (!s) return syscall(SYS_accept4, fd, address, room, flags);
	int accepted = syscall(SYS_accept4, fd, 0, 0, flags);
	if (accepted < 0 || s->first == s->last) return accepted;
	uint16_t port = s->port, peer = FIRST_PORT + s->clients[s->first++];
	int family = s->family;
	struct inet *own = note(accepted, family);
	if (!own) return accepted;
	own->bound = 1, own->port = port, own->peer = peer;
	host(own->host, family, 0);
	if (address) put(address, room, family, peer, own->host);
	return accepted;
}

WEAK int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict room) { return accept4(fd, address, room, 0); }

WEAK int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict room)
{
	struct inet *s = inet(fd);
	return s ? put(address, room, s->family, s->port, s->host) : syscall(SYS_getsockname, fd, address, room);
}

WEAK int getpeername(int fd, struct sockaddr *restrict address, socklen_t *restrict room)
{
	struct inet *s = inet(fd);
	if (!s) return syscall(SYS_getpeername, fd, address, room);
	return s->peer ? put(address, room, s->family, s->peer, s->host) : refuse(ENOTCONN);
}

WEAK int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	return inet(fd) ? refuse(ECONNREFUSED) : syscall(SYS_connect, fd, address, length);
}

/* An address does not matter to a stream; a datagram is output, which nobody compares. */
WEAK ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length)
{
	struct inet *s = inet(fd);
	if (!s || !s->datagrams) return syscall(SYS_sendto, fd, bytes, size, flags, s ? 0 : to, s ? 0 : length);
	return !to ? refuse(EDESTADDRREQ) : size > 65507 ? refuse(EMSGSIZE) : (ssize_t)size;
}

WEAK ssize_t recvfrom(int fd, void *restrict bytes, size_t size, int flags, struct sockaddr *restrict from, socklen_t *restrict room)
{
	struct inet *s = inet(fd);
	if (!s || !s->datagrams) return syscall(SYS_recvfrom, fd, bytes, size, flags, from, room);
	ssize_t got = syscall(SYS_recvfrom, fd, bytes, size, flags, 0, 0);
	if (got < 0 || s->first == s->last) return got;
	unsigned char where[16];
	host(where, s->family, 0);
	if (from) put(from, room, s->family, FIRST_PORT + s->clients[s->first], where);
	s->first += !(flags & MSG_PEEK);
	return got;
}

WEAK ssize_t recv(int fd, void *bytes, size_t size, int flags) { return recvfrom(fd, bytes, size, flags, 0, 0); }

WEAK int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	if (!inet(fd)) return syscall(SYS_setsockopt, fd, level, option, value, length);
	return level == SOL_SOCKET || level == IPPROTO_IP || level == IPPROTO_TCP || level == IPPROTO_IPV6 ? 0 : refuse(EOPNOTSUPP);
}

WEAK int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict length)
{
	struct inet *s = inet(fd);
	int asked = !s || level != SOL_SOCKET ? 0 : option == SO_DOMAIN ? s->family : option == SO_PROTOCOL ? s->datagrams ? IPPROTO_UDP : IPPROTO_TCP : 0;
	if (!asked) return syscall(SYS_getsockopt, fd, level, option, value, length);
	if (*length > sizeof asked) *length = sizeof asked;
	memcpy(value, &asked, *length);
	return 0;
}
