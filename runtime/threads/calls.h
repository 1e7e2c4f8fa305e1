/* Of threads.c: system calls that would wait. A thread makes its call again when it is its turn, as crates/environ/src/threads/calls.rs has it. Calls
 * of the C library's own functions, of `fgets` and its like, are not led here: these wait in the kernel, and the replay with them. */

struct call {
	struct pollfd *descriptors;
	int count;
	size_t bytes; /* to write, or 0 */
	const sigset_t *signals;
};

/* Whether a pipe takes so many bytes at once. */
static int takes(int fd, size_t bytes)
{
	int waiting = 0, room = fcntl(fd, F_GETPIPE_SZ);
	if (room < 0 || ioctl(fd, FIONREAD, &waiting)) return 1;
	if (waiting && bytes > (size_t)(room - waiting)) return 0;
	if (bytes > (size_t)room) wryneck_cannot("more is written than a pipe has room for", "write");
	return 1;
}

static int would_go_on(const struct call *call)
{
	sigset_t pending;
	if (call->signals) {
		sigpending(&pending);
		for (int i = 1; i < NSIG; i++)
			if (sigismember(call->signals, i) == 1 && sigismember(&pending, i) == 1) return 1;
		return 0;
	}
	if (!poll(call->descriptors, call->count, 0)) return 0;
	return !call->bytes || call->descriptors->revents & (POLLERR | POLLNVAL) || takes(call->descriptors->fd, call->bytes);
}

/* All threads wait. What a child or a timer does may end a system call: one whose call would not wait any more; 0: none, for long. */
static int from_outside(int *able)
{
	int left = (are_processes ? 3000 : 300) + until_alarm(), waits = 0; /* in ms */
	for (int i = 0; i < count; i++) waits |= threads[i].status == READY && threads[i].call;
	for (; waits && left > 0; left--) {
		for (int i = 0; i < count; i++)
			if (threads[i].status == READY && threads[i].call && would_go_on(threads[i].call)) return *able = i, 1;
		idle(1);
	}
	return 0;
}

/* Others go on until a call would not wait; 0: its time, in microseconds from now on or -1, came before. A program with one thread waits in the kernel. */
static int others_first(const struct call *call, int64_t time)
{
	uint64_t until = time < 0 ? UINT64_MAX : *wryneck_clock() - epoch + time;
	struct wait wait = {CALL, 0, time >= 0, until};
	mine->call = call;
	for (;;) {
		int goes = count == 1 || would_go_on(call);
		if (goes || *wryneck_clock() - epoch >= until) {
			mine->stage = FRESH;
			mine->call = 0;
			return goes;
		}
		int to = next(&wait, 0, 0);
		mine->wait = wait;
		go_on(to);
		mine->stage = TRIES;
		mine->tried = steps;
		switch_to(to);
	}
}

/* The same, for one descriptor, unless calls on it do not wait. */
static void on_descriptor(int fd, short events, size_t bytes)
{
	struct pollfd descriptor = {fd, events, 0};
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0 && !(flags & O_NONBLOCK)) others_first(&(struct call) {&descriptor, 1, bytes, 0}, -1);
}

/* Whether a descriptor is an `eventfd`: calls with fewer bytes than its counter has fail at once. */
static int is_counter(int fd)
{
	char name[32], target[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(name, target, sizeof target);
	return length >= 20 && !memcmp(target, "anon_inode:[eventfd]", 20);
}

static size_t size(const struct iovec *blocks, int n)
{
	size_t sum = 0;
	for (int i = 0; i < n; i++) sum += blocks[i].iov_len;
	return sum;
}

static void to_receive(int fd, size_t bytes, int flags) { if (bytes && !(flags & MSG_DONTWAIT) && (bytes >= 8 || !is_counter(fd))) on_descriptor(fd, POLLIN, 0); }
static void to_send(int fd, size_t bytes, int flags) { if (bytes && !(flags & MSG_DONTWAIT)) on_descriptor(fd, POLLOUT, bytes); }

#define RECEIVES(name, parameters, bytes, flags, arguments) \
	WEAK ssize_t wryneck_##name parameters { to_receive(fd, bytes, flags); return name arguments; }
#define SENDS(name, parameters, bytes, flags, arguments) \
	WEAK ssize_t wryneck_##name parameters { to_send(fd, bytes, flags); return name arguments; }

RECEIVES(read, (int fd, void *at, size_t n), n, 0, (fd, at, n))
RECEIVES(readv, (int fd, const struct iovec *blocks, int n), size(blocks, n), 0, (fd, blocks, n))
RECEIVES(recv, (int fd, void *at, size_t n, int flags), n, flags, (fd, at, n, flags))
RECEIVES(recvfrom, (int fd, void *at, size_t n, int flags, struct sockaddr *restrict from, socklen_t *restrict length), n, flags, (fd, at, n, flags, from, length))
RECEIVES(recvmsg, (int fd, struct msghdr *message, int flags), 1, flags, (fd, message, flags))
SENDS(write, (int fd, const void *at, size_t n), n, 0, (fd, at, n))
SENDS(writev, (int fd, const struct iovec *blocks, int n), size(blocks, n), 0, (fd, blocks, n))
SENDS(send, (int fd, const void *at, size_t n, int flags), n, flags, (fd, at, n, flags))
SENDS(sendto, (int fd, const void *at, size_t n, int flags, const struct sockaddr *to, socklen_t length), n, flags, (fd, at, n, flags, to, length))
SENDS(sendmsg, (int fd, const struct msghdr *message, int flags), 1, flags, (fd, message, flags))

WEAK int wryneck_accept(int fd, struct sockaddr *restrict from, socklen_t *restrict length) { return on_descriptor(fd, POLLIN, 0), accept(fd, from, length); }
WEAK int wryneck_accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags) { return on_descriptor(fd, POLLIN, 0), accept4(fd, from, length, flags); }

static int64_t span(const struct timespec *time) { return time ? time->tv_sec * INT64_C(1000000) + time->tv_nsec / 1000 : -1; }

static int poll_all(struct pollfd *descriptors, nfds_t n, int64_t time)
{
	others_first(&(struct call) {descriptors, n, 0, 0}, time);
	return poll(descriptors, n, time < 0 && count == 1 ? -1 : 0);
}

WEAK int wryneck_poll(struct pollfd *descriptors, nfds_t n, int time) { return poll_all(descriptors, n, time < 0 ? -1 : time * INT64_C(1000)); }
WEAK int wryneck_ppoll(struct pollfd *descriptors, nfds_t n, const struct timespec *time, const sigset_t *mask) { return poll_all(descriptors, n, span(time)); }

static int select_all(int n, fd_set *in, fd_set *out, fd_set *except, int64_t time)
{
	struct pollfd descriptors[FD_SETSIZE];
	int used = 0;
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++) {
		short events = (in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0) | (except && FD_ISSET(fd, except) ? POLLPRI : 0);
		if (events) descriptors[used++] = (struct pollfd) {fd, events, 0};
	}
	others_first(&(struct call) {descriptors, used, 0, 0}, time);
	return select(n, in, out, except, time < 0 && count == 1 ? NULL : &(struct timeval) {0, 0});
}

WEAK int wryneck_select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except, struct timeval *restrict time)
{
	if (time && (time->tv_sec < 0 || time->tv_usec < 0)) return fail(EINVAL);
	return select_all(n, in, out, except, time ? time->tv_sec * INT64_C(1000000) + time->tv_usec : -1);
}

WEAK int wryneck_pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except, const struct timespec *restrict time, const sigset_t *restrict mask)
{
	return select_all(n, in, out, except, span(time));
}

WEAK int wryneck_epoll_wait(int fd, struct epoll_event *events, int most, int time)
{
	struct pollfd instance = {fd, POLLIN, 0};
	others_first(&(struct call) {&instance, 1, 0, 0}, time < 0 ? -1 : time * INT64_C(1000));
	return epoll_wait(fd, events, most, time < 0 && count == 1 ? -1 : 0);
}

WEAK int wryneck_epoll_pwait(int fd, struct epoll_event *events, int most, int time, const sigset_t *mask) { return wryneck_epoll_wait(fd, events, most, time); }

WEAK int wryneck_sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict time)
{
	int came = others_first(&(struct call) {.signals = set}, span(time));
	return sigtimedwait(set, info, came && !time ? 0 : &(struct timespec) {0, 0});
}

WEAK int wryneck_eventfd_read(int fd, eventfd_t *value) { return on_descriptor(fd, POLLIN, 0), eventfd_read(fd, value); }
WEAK int wryneck_eventfd_write(int fd, eventfd_t value) { return on_descriptor(fd, POLLOUT, 0), eventfd_write(fd, value); }

WEAK int wryneck_sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) { return wryneck_sigtimedwait(set, info, 0); }

WEAK int wryneck_sigwait(const sigset_t *restrict set, int *restrict signal)
{
	int came = wryneck_sigtimedwait(set, 0, 0);
	return came < 0 ? errno : (*signal = came, 0);
}
