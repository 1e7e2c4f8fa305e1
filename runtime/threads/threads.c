/* Native replay of a schedule: linked with a program beside replay.c, it runs the program's threads in the order of the test.
 *
 * Each thread is a real one, and one runs at a time: the one that has the token. Locks, conditions, semaphores, barriers and keys are
 * not the C library's but the ones below, which do what the explored path's models did (crates/environ/src/threads): a thread runs until
 * it waits, yields or ends; then the next one runs that can, in the order of creation. The test's inputs `schedule`, one byte each, say at
 * which synchronisations another thread goes on. Without such an input left, the order is the one without deviation.
 *
 * A function NAME is `wryneck_NAME` here; the program's own objects are led here by their symbols (crates/cli/src/scheduled.rs). Every definition
 * is weak: a program's own goes first. The objects lie in the program's memory as musl lays them out, whatever the C library is.
 *
 * The file WRYNECK_ORDER gets the order as it comes to be: the number of switches (8 bytes), and for each the thread that it made run, and how many
 * inputs `schedule` were used before it (2 bytes).
 *
 * This file synchronises by system calls that the thread sanitizer does not see; what it is told is what orders accesses in the models. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

/* Of replay.c. */
int wryneck_schedule(void);                 /* the next byte of the schedule; -1: there is none */
const char *wryneck_order_file(void);
uint64_t *wryneck_clock(void);              /* in microseconds */
void wryneck_own_calls(int begin);
_Noreturn void wryneck_ends(const char *kind, const char *message);
_Noreturn void wryneck_cannot(const char *why, const char *what);

/* Of the thread sanitizer. */
extern WEAK void __tsan_acquire(void *);
extern WEAK void __tsan_release(void *);

static void observe(const volatile void *at) { if (__tsan_acquire) __tsan_acquire((void *)at); }
static void publish(const volatile void *at) { if (__tsan_release) __tsan_release((void *)at); }

enum { THREADS = 250, KEYS = 128, ROUNDS = 4, ORDER = 4096, STACK = 64 << 20, SLICE = 200000 };
enum status { READY, WAITS, ENDED };
enum stage { FRESH, CHOSEN, WOKEN, TIMED_OUT, TRIES };
enum kind { MUTEX, SPIN, CONDITION, READ_LOCK, WRITE_LOCK, BARRIER, SEMAPHORE, THREAD, ONCE, CALL, TIME };
enum { FUTEX_WAIT = 128, FUTEX_WAKE = 129 }; /* of one process */

static const char *const words[] = {
	"a mutex", "a spin lock", "a condition variable", "a read-write lock", "a read-write lock", "a barrier", "a semaphore", "a thread", "a function that runs once", "a system call", "a time",
};

struct call;

/* What a thread waits for. */
struct wait {
	enum kind kind;
	const volatile void *on;
	int timed;
	uint64_t until; /* in microseconds since the clock began; it does not matter if there are no other timed ones */
};

static struct thread {
	enum status status;
	enum stage stage;
	struct wait wait;
	const struct call *call; /* that it tries */
	uint64_t since, tried; /* `tried`: what `steps` was when it made its system call */
	int go; /* it has the token */
	pthread_t handle;
	int id, detached, joined;
	void *(*function)(void *);
	thrd_start_t standard;
	void *argument;
	uintptr_t result, values[KEYS]; /* complements: what only these point to is lost to the program */
	int rounds, next_key;
	struct cleanup *cleanup;
	jmp_buf end;
} threads[THREADS];

static int count = 1;
static uint64_t waits, steps; /* `steps`: times that a thread waited or gave way, but for those that it only tried a system call again */
static int are_processes, by_time; /* `by_time`: who goes on does so because its time has come */
static _Thread_local int me;
static unsigned char decisions; /* on who goes on, modulo 256 */
static unsigned blocks; /* of the program, that ran since the last switch */
static int leaving; /* a thread that has ended in the program and not yet in the kernel */
static const uint64_t epoch = UINT64_C(1700000000) * 1000000;

static struct order {
	uint64_t count;
	unsigned char first[ORDER][2];
} unseen, *order = &unseen;

#define mine (&threads[me])
#define DONE(result) return mine->stage = FRESH, (result)

/* A child has the thread that made it alone, and an order of its own. */
static void begin_child(void)
{
	for (int i = 0; i < count; i++)
		if (i != me) threads[i].status = ENDED;
	order = &unseen;
	are_processes = 1;
}

static void note_child(void) { are_processes = 1; }

__attribute__((constructor(103))) static void begin_order(void)
{
	pthread_atfork(0, note_child, begin_child);
	const char *file = wryneck_order_file();
	threads[0].handle = pthread_self();
	if (!file) return;
	wryneck_own_calls(1);
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *at = fd < 0 || ftruncate(fd, sizeof *order) ? MAP_FAILED : mmap(0, sizeof *order, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0) close(fd);
	wryneck_own_calls(0);
	if (at != MAP_FAILED) order = at;
}

/* The token. */

static long futex(int *at, int operation, int value) { return syscall(SYS_futex, at, operation, value, 0, 0, 0); }

static void await(void)
{
	while (!__atomic_exchange_n(&mine->go, 0, __ATOMIC_SEQ_CST)) futex(&mine->go, FUTEX_WAIT, 0);
	if (!leaving) return;
	while (!syscall(SYS_tgkill, getpid(), leaving, 0)) syscall(SYS_sched_yield);
	leaving = 0;
}

static void hand_over(int to)
{
	if (order->count < ORDER) order->first[order->count][0] = to, order->first[order->count][1] = decisions;
	order->count++;
	blocks = 0;
	__atomic_store_n(&threads[to].go, 1, __ATOMIC_SEQ_CST);
	futex(&threads[to].go, FUTEX_WAKE, 1);
}

static void switch_to(int to)
{
	if (to == me) return;
	hand_over(to);
	await();
}

/* The scheduler. */

static int is_in(int thread, const int *list, int length)
{
	for (int i = 0; i < length; i++)
		if (list[i] == thread) return 1;
	return 0;
}

/* Whether other threads have not ended. */
static int are_others(void)
{
	for (int i = 0; i < count; i++)
		if (i != me && threads[i].status != ENDED) return 1;
	return 0;
}

/* The other threads that may run, the next one first. `waking`: those that the current call lets go on. */
static int ready(int *list, const int *waking, int wakes)
{
	int n = 0;
	for (int i = 1; i < count; i++) {
		int other = (me + i) % count;
		int may_try = threads[other].stage != TRIES || mine->stage != TRIES || threads[other].tried < steps;
		if ((threads[other].status == READY && may_try) || is_in(other, waking, wakes)) list[n++] = other;
	}
	return n;
}

/* One of so many that may go on. */
static int pick(int n)
{
	int chosen = wryneck_schedule();
	if (chosen >= n) wryneck_cannot("fewer threads can go on than the test says", "schedule");
	if (chosen < 0) return 0;
	decisions++;
	return chosen;
}

/* Another thread may go first. */
static void turn(void)
{
	int others[THREADS];
	if (count == 1 || mine->stage != FRESH || mine->status == ENDED) return;
	int n = ready(others, 0, 0);
	if (!n) return;
	int chosen = pick(1 + n);
	mine->stage = CHOSEN;
	if (chosen) switch_to(others[chosen - 1]);
}

static const struct wait *wait_of(int thread)
{
	struct thread *t = &threads[thread];
	return t->status == WAITS || (t->status == READY && t->stage == TRIES) ? &t->wait : 0;
}

/* Lets real time pass: the program's own clock moves by each wait, which the replay library then leaves out. */
static void idle(int milliseconds) { syscall(SYS_poll, 0, 0, milliseconds); }

/* Milliseconds until the signal of `alarm` or `setitimer` is there, or 0. */
static int until_alarm(void)
{
	struct itimerval left;
	if (getitimer(ITIMER_REAL, &left) || !(left.it_value.tv_sec || left.it_value.tv_usec)) return 0;
	return left.it_value.tv_sec * 1000 + left.it_value.tv_usec / 1000 + 100;
}

/* The signal of a timer may end the program. How much time those of `timer_create` have left is not said. */
static void await_timers(void)
{
	int alarm = until_alarm();
	if (alarm) idle(alarm);
	char byte;
	int timers = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
	if (timers >= 0 && read(timers, &byte, 1) == 1) idle(3000);
	if (timers >= 0) close(timers);
}

static _Noreturn void deadlock(const struct wait *own)
{
	char text[1024];
	int length = 0;
	for (int i = 0; i < count; i++) {
		const struct wait *wait = i == me ? own : wait_of(i);
		if (!wait || length > (int)sizeof text - 80) continue;
		length += snprintf(text + length, sizeof text - length, "%sthread %d waits for %s", length ? "; " : "", i, words[wait->kind]);
	}
	await_timers();
	wryneck_ends("deadlock", text);
}

static int from_outside(int *able);

/* Who goes on where the running thread does not: it waits for this, or it ends. */
static int next(const struct wait *wait, const int *waking, int wakes)
{
	int able[2 * THREADS], n = ready(able, waking, wakes), first = n;
	for (int i = 0; i < count; i++) {
		const struct wait *w = i == me ? wait : wait_of(i);
		if (!w || !w->timed || is_in(i, able, first)) continue;
		int at = n++;
		for (; at > first; at--) {
			const struct wait *before = able[at - 1] == me ? wait : &threads[able[at - 1]].wait;
			if (before->until <= w->until) break;
			able[at] = able[at - 1];
		}
		able[at] = i;
	}
	if (!first && (!n || are_processes) && from_outside(able)) n = 1;
	if (!n) deadlock(wait);
	int chosen = n == 1 ? 0 : pick(n);
	by_time = chosen >= first;
	return able[chosen];
}

static void go_on(int thread);

/* The thread whose time comes first, or the running one. */
static int first_by_time(void)
{
	int first = me;
	for (int i = 0; i < count; i++) {
		const struct wait *w = i == me ? 0 : wait_of(i);
		if (w && w->timed && (first == me || w->until < threads[first].wait.until)) first = i;
	}
	return first;
}

/* The compiler has each block of the program call this. A thread gives way where it has run for long: it may wait in a loop for what another
 * does. On the explored path it does so after as many instructions, which makes no difference to such a loop. */
void __sanitizer_cov_trace_pc(void)
{
	int others[THREADS];
	if (++blocks < SLICE || mine->status == ENDED) return;
	blocks = 0;
	int n = ready(others, 0, 0), to = n ? others[0] : first_by_time();
	if (to == me) return;
	by_time = !n;
	go_on(to);
	switch_to(to);
}

/* The running thread does not go on. The one that does is able to run, if it waited for a time to come. */
static void go_on(int thread)
{
	struct thread *t = &threads[thread];
	uint64_t *now = wryneck_clock();
	if (mine->stage != TRIES) steps++;
	if (!by_time) return;
	if (t->status == WAITS) t->stage = TIMED_OUT, t->status = READY;
	if (t->wait.until < UINT64_MAX && *now < epoch + t->wait.until) *now = epoch + t->wait.until;
}

/* The running thread waits for this, and comes back to its call at this stage; the thread that goes on instead, to be switched to. */
static int begin_wait(struct wait wait, enum stage stage, const int *waking, int wakes)
{
	if (mine->status == ENDED) wryneck_cannot("a thread waits after its end for", words[wait.kind]);
	int to = next(&wait, waking, wakes);
	mine->since = ++waits;
	mine->stage = stage;
	mine->wait = wait;
	mine->status = WAITS;
	go_on(to);
	return to;
}

static void wait_for(enum kind kind, const volatile void *on, const uint64_t *until)
{
	switch_to(begin_wait((struct wait) {kind, on, !!until, until ? *until : 0}, CHOSEN, 0, 0));
}

/* The threads that wait for this, the longest waiting first. */
static int waiting(int *list, enum kind kind, const volatile void *on)
{
	int n = 0;
	for (int i = 0; i < count; i++) {
		if (threads[i].status != WAITS || threads[i].wait.kind != kind || threads[i].wait.on != on) continue;
		int at = n++;
		for (; at > 0 && threads[list[at - 1]].since > threads[i].since; at--) list[at] = list[at - 1];
		list[at] = i;
	}
	return n;
}

/* Lets them try again what they could not do. */
static void wake(enum kind kind, const volatile void *on)
{
	int list[THREADS], n = waiting(list, kind, on);
	for (int i = 0; i < n; i++) threads[list[i]].status = READY;
}

/* Tells so many of them that what they waited for has happened. */
static int release(enum kind kind, const volatile void *on, int most)
{
	int list[THREADS], n = waiting(list, kind, on);
	if (n > most) n = most;
	for (int i = 0; i < n; i++) threads[list[i]].status = READY, threads[list[i]].stage = WOKEN;
	return n;
}

/* A time to wait until, as `struct wait` has it; 0: it is none. */
static int time_at(const struct timespec *at, uint64_t *until)
{
	if ((uint64_t)at->tv_nsec >= 1000000000) return 0;
	uint64_t seconds = at->tv_sec < 0 ? 0 : at->tv_sec, now;
	if (seconds > INT64_MAX / 1000000) seconds = INT64_MAX / 1000000;
	now = seconds * 1000000 + at->tv_nsec / 1000;
	*until = now < epoch ? 0 : now - epoch;
	return 1;
}

/* Of C11: `thrd_success`, `thrd_busy`, `thrd_timedout`, `thrd_error`. */
static int standard(int error) { return !error ? thrd_success : error == EBUSY ? thrd_busy : error == ETIMEDOUT ? thrd_timedout : thrd_error; }

#define WORD(at, i) (((volatile unsigned *)(at))[i])

/* What the sanitizers say of an object that is no more, or too small, comes before what is done with it. */
#define CHECK(at, type) ((void)WORD(at, 0), (void)WORD(at, sizeof(type) / 4 - 1))

#include "locks.h"
#include "life.h"
#include "calls.h"
