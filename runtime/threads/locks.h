/* Of threads.c: locks, conditions, barriers, semaphores, and sleep. */

/* Mutexes: word 0 is the kind, word 1 the thread that holds it, from 1 on, word 5 how often more it does. */

enum how { TRY, WAIT };
enum { KIND = 3, OWNER = 1, COUNT = 5 };

static int take(volatile void *at, enum how how, const uint64_t *until)
{
	for (;;) {
		int kind = WORD(at, 0) & KIND, owner = WORD(at, OWNER), self = me + 1;
		if (!owner) {
			WORD(at, OWNER) = self, WORD(at, COUNT) = 0;
			observe(at);
			return 0;
		}
		if (owner == self && kind == PTHREAD_MUTEX_RECURSIVE) return WORD(at, COUNT) >= INT_MAX ? EAGAIN : (WORD(at, COUNT)++, 0);
		if (how == TRY) return EBUSY;
		if (owner == self && kind == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
		if (until && mine->stage == TIMED_OUT) return ETIMEDOUT;
		wait_for(MUTEX, at, until);
	}
}

static int may_give(volatile void *at, const char *what)
{
	if (WORD(at, OWNER) == me + 1u) return 0;
	if (WORD(at, 0) & KIND) return EPERM;
	wryneck_ends("unheld-lock", what);
}

static void give(volatile void *at)
{
	if (WORD(at, COUNT)) {
		WORD(at, COUNT)--;
		return;
	}
	WORD(at, OWNER) = 0;
	publish(at);
	wake(MUTEX, at);
}

static int lock(volatile void *at, enum how how, const uint64_t *until)
{
	CHECK(at, pthread_mutex_t);
	turn();
	int error = take(at, how, until);
	DONE(error);
}

static int lock_until(volatile void *at, const struct timespec *time)
{
	uint64_t until;
	return time_at(time, &until) ? lock(at, WAIT, &until) : EINVAL;
}

static int unlock(volatile void *at)
{
	CHECK(at, pthread_mutex_t);
	turn();
	int refused = may_give(at, "unlock of a mutex");
	if (!refused) give(at);
	DONE(refused);
}

static int init(void *at, size_t size, unsigned kind) { return memset(at, 0, size), WORD(at, 0) = kind, 0; }

WEAK int wryneck_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a) { return init(m, sizeof *m, a ? *(const unsigned *)a & KIND : 0); }
WEAK int wryneck_pthread_mutex_destroy(pthread_mutex_t *m) { return 0; }
WEAK int wryneck_pthread_mutex_lock(pthread_mutex_t *m) { return lock(m, WAIT, 0); }
WEAK int wryneck_pthread_mutex_trylock(pthread_mutex_t *m) { return lock(m, TRY, 0); }
WEAK int wryneck_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t) { return lock_until(m, t); }
WEAK int wryneck_pthread_mutex_unlock(pthread_mutex_t *m) { return unlock(m); }
WEAK int wryneck_mtx_init(mtx_t *m, int type) { return init(m, sizeof *m, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : 0); }
WEAK void wryneck_mtx_destroy(mtx_t *m) {}
WEAK int wryneck_mtx_lock(mtx_t *m) { return standard(lock(m, WAIT, 0)); }
WEAK int wryneck_mtx_trylock(mtx_t *m) { return standard(lock(m, TRY, 0)); }
WEAK int wryneck_mtx_timedlock(mtx_t *m, const struct timespec *t) { return standard(lock_until(m, t)); }
WEAK int wryneck_mtx_unlock(mtx_t *m) { return standard(unlock(m)); }

/* Spin locks: a word, the thread that holds it, from 1 on. */

static int spin(volatile void *at, enum how how)
{
	CHECK(at, pthread_spinlock_t);
	turn();
	for (;;) {
		if (!WORD(at, 0)) {
			WORD(at, 0) = me + 1;
			observe(at);
			DONE(0);
		}
		if (how == TRY) DONE(EBUSY);
		wait_for(SPIN, at, 0);
	}
}

WEAK int wryneck_pthread_spin_init(pthread_spinlock_t *s, int shared) { return *s = 0; }
WEAK int wryneck_pthread_spin_destroy(pthread_spinlock_t *s) { return 0; }
WEAK int wryneck_pthread_spin_lock(pthread_spinlock_t *s) { return spin(s, WAIT); }
WEAK int wryneck_pthread_spin_trylock(pthread_spinlock_t *s) { return spin(s, TRY); }

WEAK int wryneck_pthread_spin_unlock(pthread_spinlock_t *s)
{
	CHECK(s, pthread_spinlock_t);
	turn();
	if (WORD(s, 0) != me + 1u) wryneck_ends("unheld-lock", "unlock of a spin lock");
	WORD(s, 0) = 0;
	publish(s);
	wake(SPIN, s);
	DONE(0);
}

/* Read-write locks: word 0 is the number of readers or WRITER, word 1 the thread that writes. Readers publish behind the first byte. */

enum { WRITER = INT_MAX };
#define READERS(at) ((volatile char *)(at) + 1)

static int share(volatile void *at, int writes, enum how how, const uint64_t *until)
{
	CHECK(at, pthread_rwlock_t);
	turn();
	for (;;) {
		unsigned held = WORD(at, 0);
		if (writes ? !held : held < WRITER) {
			if (held == WRITER - 1) DONE(EAGAIN);
			WORD(at, 0) = writes ? WRITER : held + 1;
			observe(at);
			if (writes) {
				WORD(at, 1) = me + 1;
				observe(READERS(at));
			}
			DONE(0);
		}
		if (how == TRY) DONE(EBUSY);
		if (held == WRITER && WORD(at, 1) == me + 1u) DONE(EDEADLK);
		if (until && mine->stage == TIMED_OUT) DONE(ETIMEDOUT);
		wait_for(writes ? WRITE_LOCK : READ_LOCK, at, until);
	}
}

static int share_until(volatile void *at, int writes, const struct timespec *time)
{
	uint64_t until;
	return time_at(time, &until) ? share(at, writes, WAIT, &until) : EINVAL;
}

WEAK int wryneck_pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a) { return init(l, sizeof *l, 0); }
WEAK int wryneck_pthread_rwlock_destroy(pthread_rwlock_t *l) { return 0; }
WEAK int wryneck_pthread_rwlock_rdlock(pthread_rwlock_t *l) { return share(l, 0, WAIT, 0); }
WEAK int wryneck_pthread_rwlock_tryrdlock(pthread_rwlock_t *l) { return share(l, 0, TRY, 0); }
WEAK int wryneck_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t) { return share_until(l, 0, t); }
WEAK int wryneck_pthread_rwlock_wrlock(pthread_rwlock_t *l) { return share(l, 1, WAIT, 0); }
WEAK int wryneck_pthread_rwlock_trywrlock(pthread_rwlock_t *l) { return share(l, 1, TRY, 0); }
WEAK int wryneck_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t) { return share_until(l, 1, t); }

WEAK int wryneck_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	CHECK(l, pthread_rwlock_t);
	turn();
	unsigned held = WORD(l, 0);
	int writes = held == WRITER;
	if (!held || (writes && WORD(l, 1) != me + 1u)) wryneck_ends("unheld-lock", "unlock of a read-write lock");
	WORD(l, 0) = writes ? 0 : held - 1;
	if (writes) WORD(l, 1) = 0;
	if (writes) publish(l);
	else publish(READERS(l));
	if (writes || held == 1) wake(WRITE_LOCK, l), wake(READ_LOCK, l);
	DONE(0);
}

/* Conditions. */

static int condition(volatile void *at, volatile void *mutex, const uint64_t *until)
{
	int waking[THREADS], wakes = 0;
	CHECK(at, pthread_cond_t);
	CHECK(mutex, pthread_mutex_t);
	turn();
	int refused = may_give(mutex, "wait for a condition without holding the mutex");
	if (refused) DONE(refused);
	if (!WORD(mutex, COUNT)) wakes = waiting(waking, MUTEX, mutex);
	int to = begin_wait((struct wait) {CONDITION, at, !!until, until ? *until : 0}, WOKEN, waking, wakes);
	give(mutex);
	switch_to(to);
	for (;;) {
		enum stage stage = mine->stage;
		int owner = WORD(mutex, OWNER);
		if (!owner || owner == me + 1) {
			int error = take(mutex, WAIT, 0);
			DONE(error ? error : stage == TIMED_OUT ? ETIMEDOUT : 0);
		}
		switch_to(begin_wait((struct wait) {MUTEX, mutex, 0, 0}, stage, 0, 0));
	}
}

static int condition_until(volatile void *at, volatile void *mutex, const struct timespec *time)
{
	uint64_t until;
	if (!time) return condition(at, mutex, 0);
	return time_at(time, &until) ? condition(at, mutex, &until) : EINVAL;
}

static int signal_some(volatile void *at, int most)
{
	CHECK(at, pthread_cond_t);
	turn();
	release(CONDITION, at, most);
	DONE(0);
}

WEAK int wryneck_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *a) { return init(c, sizeof *c, 0); }
WEAK int wryneck_pthread_cond_destroy(pthread_cond_t *c) { return 0; }
WEAK int wryneck_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { return condition(c, m, 0); }
WEAK int wryneck_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) { return condition_until(c, m, t); }
WEAK int wryneck_pthread_cond_signal(pthread_cond_t *c) { return signal_some(c, 1); }
WEAK int wryneck_pthread_cond_broadcast(pthread_cond_t *c) { return signal_some(c, THREADS); }
WEAK int wryneck_cnd_init(cnd_t *c) { return init(c, sizeof *c, 0); }
WEAK void wryneck_cnd_destroy(cnd_t *c) {}
WEAK int wryneck_cnd_wait(cnd_t *c, mtx_t *m) { return standard(condition(c, m, 0)); }
WEAK int wryneck_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *t) { return standard(condition_until(c, m, t)); }
WEAK int wryneck_cnd_signal(cnd_t *c) { return signal_some(c, 1); }
WEAK int wryneck_cnd_broadcast(cnd_t *c) { return signal_some(c, THREADS); }

/* Barriers: word 2 is the number of threads less one, word 3 how many have come, word 4 the round. Who comes early in the next round publishes
 * elsewhere than who is late in this one observes. */

WEAK int wryneck_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *a, unsigned n)
{
	if (n - 1 > INT_MAX - 1) return EINVAL;
	init(b, sizeof *b, 0);
	return WORD(b, 2) = n - 1, 0;
}

WEAK int wryneck_pthread_barrier_destroy(pthread_barrier_t *b) { return 0; }

WEAK int wryneck_pthread_barrier_wait(pthread_barrier_t *b)
{
	CHECK(b, pthread_barrier_t);
	turn();
	volatile char *round = (volatile char *)b + (WORD(b, 4) & 1);
	if (WORD(b, 3) < (WORD(b, 2) & INT_MAX)) {
		int to = begin_wait((struct wait) {BARRIER, b, 0, 0}, WOKEN, 0, 0);
		WORD(b, 3)++;
		publish(round);
		switch_to(to);
		observe(round);
		DONE(0);
	}
	WORD(b, 3) = 0, WORD(b, 4)++;
	publish(round);
	observe(round);
	release(BARRIER, b, THREADS);
	DONE(PTHREAD_BARRIER_SERIAL_THREAD);
}

/* Semaphores: word 0 is the value. */

static int fail(int error) { return errno = error, -1; }

static int down(volatile void *at, enum how how, const uint64_t *until)
{
	CHECK(at, sem_t);
	turn();
	for (;;) {
		unsigned value = WORD(at, 0);
		if (value && value <= INT_MAX) {
			WORD(at, 0) = value - 1;
			observe(at);
			DONE(0);
		}
		if (how == TRY) DONE(fail(EAGAIN));
		if (until && mine->stage == TIMED_OUT) DONE(fail(ETIMEDOUT));
		wait_for(SEMAPHORE, at, until);
	}
}

WEAK int wryneck_sem_init(sem_t *s, int shared, unsigned value) { return value > INT_MAX ? fail(EINVAL) : init(s, sizeof *s, value); }
WEAK int wryneck_sem_destroy(sem_t *s) { return 0; }
WEAK int wryneck_sem_getvalue(sem_t *s, int *value) { return *value = WORD(s, 0) & INT_MAX, 0; }
WEAK int wryneck_sem_wait(sem_t *s) { return down(s, WAIT, 0); }
WEAK int wryneck_sem_trywait(sem_t *s) { return down(s, TRY, 0); }

WEAK int wryneck_sem_timedwait(sem_t *s, const struct timespec *time)
{
	uint64_t until;
	return time_at(time, &until) ? down(s, WAIT, &until) : fail(EINVAL);
}

WEAK int wryneck_sem_post(sem_t *s)
{
	CHECK(s, sem_t);
	turn();
	unsigned value = WORD(s, 0) & INT_MAX;
	if (value == INT_MAX) DONE(fail(EOVERFLOW));
	WORD(s, 0) = value + 1;
	publish(s);
	wake(SEMAPHORE, s);
	DONE(0);
}

/* Sleep: the others go first. */

static void yield(void)
{
	int others[THREADS];
	if (mine->status == ENDED || !ready(others, 0, 0)) return;
	int to = next(0, 0, 0);
	mine->stage = CHOSEN;
	go_on(to);
	switch_to(to);
	mine->stage = FRESH;
}

static int sleep_to(uint64_t until)
{
	uint64_t *now = wryneck_clock();
	if (mine->status != ENDED && are_others() && *now < until) {
		switch_to(begin_wait((struct wait) {TIME, 0, 1, until - epoch}, CHOSEN, 0, 0));
		mine->stage = FRESH;
	}
	if (*now < until) *now = until;
	return 0;
}

static int sleep_for(uint64_t microseconds) { return sleep_to(*wryneck_clock() + microseconds); }

WEAK int wryneck_sched_yield(void) { return yield(), 0; }
WEAK void wryneck_thrd_yield(void) { yield(); }
WEAK unsigned wryneck_sleep(unsigned seconds) { return sleep_for(seconds * UINT64_C(1000000)); }
WEAK int wryneck_usleep(useconds_t microseconds) { return sleep_for(microseconds); }

WEAK int wryneck_nanosleep(const struct timespec *time, struct timespec *left)
{
	if ((uint64_t)time->tv_nsec >= 1000000000 || time->tv_sec < 0) return fail(EINVAL);
	return sleep_for(time->tv_sec * UINT64_C(1000000) + time->tv_nsec / 1000);
}

WEAK int wryneck_thrd_sleep(const struct timespec *time, struct timespec *left) { return wryneck_nanosleep(time, left) ? -2 : 0; }

WEAK int wryneck_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	if ((uint64_t)time->tv_nsec >= 1000000000 || time->tv_sec < 0) return EINVAL;
	uint64_t at = time->tv_sec * UINT64_C(1000000) + time->tv_nsec / 1000, *now = wryneck_clock();
	return sleep_to(flags ? at : *now + at);
}
