/* Of threads.c: threads from their beginning to their end, keys, cleanup handlers, and what runs once. */

/* Cleanup handlers, as musl and as glibc register them. */

struct cleanup {
	void (*function)(void *);
	void *argument;
	struct cleanup *next;
};

WEAK void wryneck__pthread_cleanup_push(struct cleanup *c, void (*function)(void *), void *argument)
{
	*c = (struct cleanup) {function, argument, mine->cleanup};
	mine->cleanup = c;
}

WEAK void wryneck__pthread_cleanup_pop(struct cleanup *c, int runs)
{
	mine->cleanup = c->next;
	if (runs) c->function(c->argument);
}

#ifdef __GLIBC__
/* A buffer is a jump buffer and four words; two of these serve here. */
static void land(void *at) { longjmp((struct __jmp_buf_tag *)at, 1); }

WEAK void wryneck___pthread_register_cancel(__pthread_unwind_buf_t *buffer)
{
	/* It has the size of `struct cleanup` but for one word. */
	buffer->__pad[0] = mine->cleanup;
	mine->cleanup = (struct cleanup *)((uintptr_t)buffer | 1);
}

WEAK void wryneck___pthread_unregister_cancel(__pthread_unwind_buf_t *buffer) { mine->cleanup = buffer->__pad[0]; }
#endif

/* Keys. */

static struct {
	int used;
	void (*destructor)(void *);
} keys[KEYS];
static int keys_made;

WEAK int wryneck_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	int free = 0;
	while (free < keys_made && keys[free].used) free++;
	if (free >= KEYS) return EAGAIN;
	if (free == keys_made) keys_made++;
	keys[free].used = 1, keys[free].destructor = destructor;
	return *key = free, 0;
}

WEAK int wryneck_pthread_key_delete(pthread_key_t key)
{
	if (key >= KEYS) return 0;
	keys[key].used = 0;
	for (int i = 0; i < count; i++) threads[i].values[key] = 0;
	return 0;
}

WEAK void *wryneck_pthread_getspecific(pthread_key_t key) { return key < KEYS && mine->values[key] ? (void *)~mine->values[key] : 0; }

WEAK int wryneck_pthread_setspecific(pthread_key_t key, const void *value)
{
	if (key >= KEYS || !keys[key].used) return EINVAL;
	return mine->values[key] = value ? ~(uintptr_t)value : 0, 0;
}

WEAK int wryneck_tss_create(tss_t *key, tss_dtor_t destructor) { return standard(wryneck_pthread_key_create(key, destructor)); }
WEAK void wryneck_tss_delete(tss_t key) { wryneck_pthread_key_delete(key); }
WEAK void *wryneck_tss_get(tss_t key) { return wryneck_pthread_getspecific(key); }
WEAK int wryneck_tss_set(tss_t key, void *value) { return standard(wryneck_pthread_setspecific(key, value)); }

static int key_from(int first)
{
	while (first < keys_made && !(mine->values[first] && keys[first].used && keys[first].destructor)) first++;
	return first < keys_made ? first : -1;
}

/* Keys that a destructor has set again come in the next round. */
static void run_destructors(void)
{
	for (;;) {
		int rounds = mine->rounds, key = key_from(mine->next_key);
		if (key < 0) rounds++, key = key_from(0);
		if (key < 0 || rounds >= ROUNDS) return;
		void *value = (void *)~mine->values[key];
		mine->values[key] = 0, mine->rounds = rounds, mine->next_key = key + 1;
		keys[key].destructor(value);
	}
}

/* Threads from their beginning to their end. */

/* The running thread ends; another one has the token then. */
static void end(void *result)
{
	int waking[THREADS];
	run_destructors();
	if (!are_others()) exit(0);
	int wakes = waiting(waking, THREAD, mine), to = next(0, waking, wakes);
	mine->result = ~(uintptr_t)result;
	publish(mine);
	mine->status = ENDED;
	go_on(to);
	wake(THREAD, mine);
	if (me) leaving = mine->id;
	hand_over(to);
	/* The process lives on. */
	while (!me) syscall(SYS_pause);
}

static void *begin(void *number)
{
	me = (int)(intptr_t)number;
	mine->id = syscall(SYS_gettid);
	await();
	void *argument = mine->argument;
	mine->argument = 0;
	if (!setjmp(mine->end)) end(mine->standard ? (void *)(intptr_t)mine->standard(argument) : mine->function(argument));
	return 0;
}

WEAK _Noreturn void wryneck_pthread_exit(void *result)
{
	while (mine->cleanup) {
		struct cleanup *c = mine->cleanup;
#ifdef __GLIBC__
		if ((uintptr_t)c & 1) {
			/* The handler runs in its function, which comes back by `__pthread_unwind_next`. */
			__pthread_unwind_buf_t *buffer = (void *)((uintptr_t)c & ~(uintptr_t)1);
			mine->result = ~(uintptr_t)result;
			mine->cleanup = buffer->__pad[0];
			land(buffer);
		}
#endif
		mine->cleanup = c->next;
		c->function(c->argument);
	}
	end(result);
	longjmp(mine->end, 1);
}

#ifdef __GLIBC__
WEAK _Noreturn void wryneck___pthread_unwind_next(__pthread_unwind_buf_t *buffer) { wryneck_pthread_exit((void *)~mine->result); }
#endif

static int create(void *handle, int detached, void *(*function)(void *), thrd_start_t standard, void *argument)
{
	pthread_attr_t attributes;
	pthread_t made;
	turn();
	if (count == THREADS) wryneck_cannot("too many threads for", "a replay");
	threads[count] = (struct thread) {.detached = detached, .function = function, .standard = standard, .argument = argument};
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	wryneck_own_calls(1);
	int error = pthread_create(&made, &attributes, begin, (void *)(intptr_t)count);
	wryneck_own_calls(0);
	if (error) wryneck_cannot("no thread can be made:", strerror(error));
	pthread_attr_destroy(&attributes);
	*(pthread_t *)handle = made;
	threads[count++].handle = made;
	DONE(0);
}

WEAK int wryneck_pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	int detached = PTHREAD_CREATE_JOINABLE;
	if (attributes) pthread_attr_getdetachstate(attributes, &detached);
	return create(handle, detached != PTHREAD_CREATE_JOINABLE, function, 0, argument);
}

WEAK int wryneck_thrd_create(thrd_t *handle, thrd_start_t function, void *argument) { return create(handle, 0, 0, function, argument); }
WEAK _Noreturn void wryneck_thrd_exit(int result) { wryneck_pthread_exit((void *)(intptr_t)result); }

static struct thread *thread_of(pthread_t handle)
{
	for (int i = 0; i < count; i++)
		if (pthread_equal(threads[i].handle, handle)) return &threads[i];
	return 0;
}

static int join(pthread_t handle, void **result, enum how how, const uint64_t *until)
{
	struct thread *t = thread_of(handle);
	if (!t) return ESRCH;
	turn();
	for (;;) {
		if (t->detached || t->joined) DONE(EINVAL);
		if (t == mine) DONE(EDEADLK);
		if (t->status == ENDED) break;
		if (how == TRY) DONE(EBUSY);
		if (until && mine->stage == TIMED_OUT) DONE(ETIMEDOUT);
		wait_for(THREAD, t, until);
	}
	if (result) *result = (void *)~t->result;
	observe(t);
	t->joined = 1;
	DONE(0);
}

WEAK int wryneck_pthread_join(pthread_t handle, void **result) { return join(handle, result, WAIT, 0); }
WEAK int wryneck_pthread_tryjoin_np(pthread_t handle, void **result) { return join(handle, result, TRY, 0); }

WEAK int wryneck_pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *time)
{
	uint64_t until;
	if (!time) return join(handle, result, WAIT, 0);
	return time_at(time, &until) ? join(handle, result, WAIT, &until) : EINVAL;
}

WEAK int wryneck_thrd_join(thrd_t handle, int *result)
{
	void *value = 0;
	join((pthread_t)handle, &value, WAIT, 0);
	if (result) *result = (int)(intptr_t)value;
	return thrd_success;
}

WEAK int wryneck_pthread_detach(pthread_t handle)
{
	struct thread *t = thread_of(handle);
	if (!t) return ESRCH;
	int wrong = t->detached || t->joined;
	return t->detached = 1, wrong ? EINVAL : 0;
}

WEAK int wryneck_thrd_detach(thrd_t handle) { return wryneck_pthread_detach((pthread_t)handle); }
WEAK int wryneck_pthread_cancel(pthread_t handle) { return ENOSYS; }
WEAK int wryneck_pthread_kill(pthread_t handle, int signal) { return count > 1 ? ENOSYS : pthread_kill(handle, signal); }

/* Once: the word is 0; 1 while the function runs; 3 if others wait; 2. */

static void undo(void *at) { WORD(at, 0) = 0, release(ONCE, at, THREADS); }

WEAK int wryneck_pthread_once(pthread_once_t *at, void (*function)(void))
{
	struct cleanup c;
	while (WORD(at, 0) != 2) {
		if (!WORD(at, 0)) {
			WORD(at, 0) = 1;
			wryneck__pthread_cleanup_push(&c, undo, (void *)at);
			function();
			wryneck__pthread_cleanup_pop(&c, 0);
			WORD(at, 0) = 2;
			publish(at);
			release(ONCE, at, THREADS);
			return 0;
		}
		WORD(at, 0) = 3;
		switch_to(begin_wait((struct wait) {ONCE, at, 0, 0}, WOKEN, 0, 0));
		mine->stage = FRESH;
	}
	observe(at);
	return 0;
}

WEAK void wryneck_call_once(once_flag *at, void (*function)(void)) { wryneck_pthread_once((pthread_once_t *)at, function); }
