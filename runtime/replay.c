/* Native replay: linked with a program, it answers the intrinsics of wryneck.h, klee.h and SV-COMP from one test.
 *
 *   WRYNECK_TEST=FILE    the test, a `.ktest` file; without it every input is 0
 *   WRYNECK_REPORT=FILE  where the lines below go, one each; without it to standard error
 *   WRYNECK_ORDER=FILE   of a program with threads: where their order goes (threads/threads.c)
 *
 * Inputs are handed out in the order of the calls: a call for input `x` takes the first object not yet taken whose name is `x`
 * or `x_` and digits. How the replay ended beyond the program's own end (exit code, signal) is one line:
 *
 *   dropped                 an assumption does not hold, or the program dropped the path; exit code 0
 *   finding KIND: MESSAGE   the program reported it; SIGABRT
 *   scheduler: KIND: WORDS  no thread can go on, or one gives back a lock that it does not hold; SIGABRT
 *   cannot replay: WHY      the test does not fit the program; exit code 70
 *
 * Every definition is weak: a program's own goes first. Built with -DFAIL_CALLS it also makes the calls fail that the test's inputs
 * `fail_NAME` say. Built with -DPRELOADED, as a shared library that shows nothing but what is marked SHOWN, it is for programs of the
 * host's C library that were linked without it (LD_PRELOAD); with -DASKS_TOO for such a program that was linked with it, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "wryneck.h"
#include "klee/klee.h"

#define WEAK __attribute__((weak))
#define SHOWN __attribute__((visibility("default")))

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc says it */
#endif
#if __has_feature(undefined_behavior_sanitizer)
#define REPORTS_OVERFLOW
#endif
#endif

/* What the replay and the sanitizers are told is taken out of the environment, which the program may print. */
static const char *test_file, *report_file, *order_file;

__attribute__((constructor(101))) static void take_settings(void)
{
	static const char *const names[] __attribute__((unused)) = {
		"WRYNECK_TEST", "WRYNECK_REPORT", "WRYNECK_ORDER", "ASAN_OPTIONS", "LSAN_OPTIONS", "MSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
	};
	test_file = getenv("WRYNECK_TEST");
	report_file = getenv("WRYNECK_REPORT");
	order_file = getenv("WRYNECK_ORDER");
#ifdef PRELOADED
	unsetenv("LD_PRELOAD");
#endif
#ifndef ASKS_TOO
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
#endif
}

#ifdef __SANITIZE_ADDRESS__
/* Arguments and environment lie end to end on the stack; copies have bounds that the sanitizer watches. */
void __lsan_ignore_object(const void *);

static char *copy(const char *text)
{
	char *own = strdup(text);
	__lsan_ignore_object(own);
	return own;
}

__attribute__((constructor)) static void copy_arguments(int argc, char **argv, char **envp)
{
	(void)argc;
	for (; *argv; argv++) *argv = copy(*argv);
	for (; *envp; envp++) *envp = copy(*envp);
}
#endif

/* Ends. */

#ifdef FAIL_CALLS
static int failing; /* from the constructor to the first line of the report */
#endif

static void say(const char *format, ...)
{
#ifdef FAIL_CALLS
	failing = 0;
#endif
	FILE *out = report_file ? fopen(report_file, "a") : stderr;
	va_list args;
	if (!out) out = stderr;
	if (out == stderr) fputs("wryneck replay: ", out);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
	if (out != stderr) fclose(out);
}

static _Noreturn void drop(void)
{
	say("dropped");
	fflush(0);
	_exit(0);
}

static _Noreturn void cannot(const char *why, const char *what)
{
	say("cannot replay: %s `%s`", why, what);
	fflush(0);
	_exit(70);
}

static _Noreturn void finding(const char *kind, const char *message)
{
	say("finding %s: %s", kind, message);
	fflush(0);
	signal(SIGABRT, SIG_DFL);
	abort();
}

/* The test. KLEE's format, numbers big-endian and of four bytes: "KTEST", version, count of arguments and each (length, bytes),
 * from version 2 two numbers on symbolic arguments, count of objects and each (length and bytes of its name, then of its value). */

struct object {
	const char *name; /* terminated by a 0 that replaces the first byte of the value's length */
	const unsigned char *bytes;
	size_t size;
	int taken;
};

static struct {
	int loaded;
	unsigned char *file; /* what the objects point into */
	struct object *objects;
	size_t count;
} test;

struct reader {
	unsigned char *at, *end;
	const char *file;
};

static unsigned char *take(struct reader *r, size_t n)
{
	unsigned char *start = r->at;
	if ((size_t)(r->end - r->at) < n) cannot("truncated test", r->file);
	r->at += n;
	return start;
}

static size_t number(struct reader *r)
{
	unsigned char *b = take(r, 4);
	return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

static struct reader slurp(const char *file)
{
	struct reader r = {0, 0, file};
	size_t capacity = 0, used = 0, n;
	FILE *in = fopen(file, "rb");
	if (!in) cannot("cannot open test", file);
	do {
		if (used == capacity) r.at = realloc(r.at, capacity = 2 * capacity + 4096);
		if (!r.at) cannot("no memory for test", file);
		n = fread(r.at + used, 1, capacity - used, in);
		used += n;
	} while (n);
	fclose(in);
	r.end = r.at + used;
	return r;
}

static void load(void)
{
	const char *file = test_file;
	test.loaded = 1;
	if (!file) return;
	struct reader r = slurp(file);
	test.file = r.at;
	if (memcmp(take(&r, 5), "KTEST", 5)) cannot("not a test", file);
	size_t version = number(&r);
	if (version == 0 || version > 4) cannot("unknown version of test", file);
	for (size_t n = number(&r); n; n--) take(&r, number(&r));
	if (version >= 2) take(&r, 8);
	test.count = number(&r);
	if (test.count > (size_t)(r.end - r.at) / 8) cannot("truncated test", file);
	test.objects = calloc(test.count + 1, sizeof *test.objects);
	if (!test.objects) cannot("no memory for test", file);
	for (size_t i = 0; i < test.count; i++) {
		struct object *o = &test.objects[i];
		size_t length = number(&r);
		o->name = (const char *)take(&r, length);
		o->size = number(&r);
		((char *)o->name)[length] = 0;
		o->bytes = take(&r, o->size);
	}
}

static int names(const char *object, const char *input)
{
	size_t n = strlen(input);
	if (strncmp(object, input, n)) return 0;
	object += n;
	return !*object || (*object == '_' && object[1] && !object[1 + strspn(object + 1, "0123456789")]);
}

static struct object *find(const char *name)
{
	if (!test.loaded) load();
	for (size_t i = 0; i < test.count; i++)
		if (!test.objects[i].taken && names(test.objects[i].name, name)) return &test.objects[i];
	return 0;
}

/* Fills `size` bytes with input `name`; with zeros if there is no test at all. */
static void input(void *address, size_t size, const char *name)
{
	struct object *o = find(name ? name : "unnamed");
	if (!o) {
		if (test.count) cannot("the test has no input", name ? name : "unnamed");
		memset(address, 0, size);
		return;
	}
	if (o->size != size) cannot("another size in the test of input", o->name);
	memcpy(address, o->bytes, size);
	o->taken = 1;
}

#ifdef FAIL_CALLS
/* Calls that fail. For every call of NAME the test has an input `fail_NAME` of one byte, in order: 0, it works; an error number; or
 * 255, it moves one byte or block. A filter of seccomp's turns the system calls into SIGSYS, whose handler makes them or not; the
 * filter knows the handler's own by their address. The linker leads calls of the allocator here (--wrap). */

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { SHORT = 255 };
static int within; /* the allocator calls itself */

static int fate(const char *name)
{
	struct object *o = failing && !within ? find(name) : 0;
	if (!o) return 0;
	o->taken = 1;
	return o->size ? o->bytes[0] : 0;
}

static const struct {
	int number;
	const char *name;
} calls[] = {
#define CALL(name) {SYS_##name, "fail_" #name}
	CALL(close), CALL(creat), CALL(dup), CALL(fallocate), CALL(fdatasync), CALL(fsync), CALL(ftruncate), CALL(getdents64), CALL(link),
	CALL(linkat), CALL(mkdir), CALL(mkdirat), CALL(open), CALL(openat), CALL(pipe), CALL(pipe2), CALL(pread64), CALL(pwrite64), CALL(read),
	CALL(readv), CALL(rename), CALL(renameat), CALL(renameat2), CALL(rmdir), CALL(symlink), CALL(symlinkat), CALL(unlink), CALL(unlinkat),
	CALL(write), CALL(writev),
};
enum { CALLS = sizeof calls / sizeof *calls };

/* `wryneck_made` is where the kernel finds the program after the system call. */
long wryneck_make(long number, long a, long b, long c, long d, long e, long f);
extern const char wryneck_made[];
__asm__(".text\nwryneck_make:\n"
	"mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\nmov %r9, %r8\nmov 8(%rsp), %r9\nsyscall\n"
	"wryneck_made: ret\n");

static void trapped(int signal, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	long number = r[REG_RAX];
	int code = 0;
	for (int i = 0; i < CALLS; i++)
		if (calls[i].number == number) code = fate(calls[i].name);
	(void)signal, (void)info;
	if (code && code != SHORT && number != SYS_close) {
		r[REG_RAX] = -code;
		return;
	}
	long count = code == SHORT ? 1 : r[REG_RDX];
	long result = wryneck_make(number, r[REG_RDI], r[REG_RSI], count, r[REG_R10], r[REG_R8], r[REG_R9]);
	r[REG_RAX] = code && code != SHORT ? -code : result;
}

struct instruction {
	unsigned short code;
	unsigned char yes, no;
	unsigned k;
};

static void filter(void)
{
	enum { LOAD = 0x20, EQUAL = 0x15, RETURN = 0x06, TRAP = 0x30000, ALLOW = 0x7fff0000, ADDRESS = 8, MODE_FILTER = 2 };
	uintptr_t made = (uintptr_t)wryneck_made;
	struct instruction program[CALLS + 8], *p = program;
	*p++ = (struct instruction){LOAD, 0, 0, 0};
	for (int i = 0; i < CALLS; i++) *p++ = (struct instruction){EQUAL, CALLS - i, 0, calls[i].number};
	*p++ = (struct instruction){RETURN, 0, 0, ALLOW};
	*p++ = (struct instruction){LOAD, 0, 0, ADDRESS};
	*p++ = (struct instruction){EQUAL, 0, 2, (unsigned)made};
	*p++ = (struct instruction){LOAD, 0, 0, ADDRESS + 4};
	*p++ = (struct instruction){EQUAL, 1, 0, (unsigned)(made >> 32)};
	*p++ = (struct instruction){RETURN, 0, 0, TRAP};
	*p++ = (struct instruction){RETURN, 0, 0, ALLOW};
	struct {
		unsigned short count;
		struct instruction *first;
	} all = {p - program, program};
	struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(SIGSYS, &action, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, MODE_FILTER, &all)) cannot("no seccomp for", "failing calls");
}

/* After the settings were taken. */
__attribute__((constructor(102))) static void fail_calls(void)
{
	int any = 0;
	load();
	for (size_t i = 0; i < test.count; i++) {
		struct object *o = &test.objects[i];
		if (!strncmp(o->name, "fail_", 5) && strncmp(o->name, "fail_malloc", 11)) any |= o->size && o->bytes[0];
	}
	failing = 1;
	if (any) filter();
}

#define POWER_OF_TWO(n) ((n) && !((n) & ((n) - 1)))

/* Calls of NAME come to `WRAPPED(NAME)`, and `REAL(NAME)` is the allocator's own. */
#ifdef PRELOADED
#define WRAPPED(name) name
#define REAL(name) __libc_##name
void *__libc_memalign(size_t align, size_t size);
void *__libc_aligned_alloc(size_t align, size_t size) { return __libc_memalign(align, size); }
int __libc_posix_memalign(void **to, size_t align, size_t size)
{
	if (!POWER_OF_TWO(align) || align % sizeof *to) return EINVAL;
	void *block = __libc_memalign(align, size);
	return block ? *to = block, 0 : ENOMEM;
}
#else
#define WRAPPED(name) __wrap_##name
#define REAL(name) __real_##name
#endif

/* Fails if the test says so, where the call is one that counts. */
#define WRAP(type, failed, name, counts, parameters, ...) \
	type REAL(name) parameters; \
	SHOWN type WRAPPED(name) parameters \
	{ \
		if ((counts) && fate("fail_malloc")) return failed; \
		within++; \
		type result = REAL(name)(__VA_ARGS__); \
		within--; \
		return result; \
	}
#define NO_MEMORY (errno = ENOMEM, (void *)0)

WRAP(void *, NO_MEMORY, malloc, 1, (size_t size), size)
WRAP(void *, NO_MEMORY, calloc, !size || count <= SIZE_MAX / size, (size_t count, size_t size), count, size)
WRAP(void *, NO_MEMORY, realloc, 1, (void *old, size_t size), old, size)
WRAP(void *, NO_MEMORY, aligned_alloc, POWER_OF_TWO(align), (size_t align, size_t size), align, size)
WRAP(void *, NO_MEMORY, memalign, POWER_OF_TWO(align), (size_t align, size_t size), align, size)
WRAP(int, ENOMEM, posix_memalign, POWER_OF_TWO(align) && !(align % 8), (void **to, size_t align, size_t size), to, align, size)
#ifdef PRELOADED
WRAP(void *, NO_MEMORY, pvalloc, 1, (size_t size), size)
WRAP(void *, NO_MEMORY, valloc, 1, (size_t size), size)
#endif
#endif

/* Calls whose results are the test's (--sym-calls): built with -DSYM_CALLS, and -DSYM_CALLS_NAME for those that write what they say. The
 * others are stubs of their own, which get their results here. */

#ifdef SYM_CALLS
uint64_t wryneck_sym_call(const char *name)
{
	uint64_t value = 0;
	struct object *o = find(name);
	if (o && o->size <= sizeof value) input(&value, o->size, name);
	else if (o || test.count) cannot("the test has no result of", name);
	return value;
}
#endif

#ifdef SYM_CALLS_arc4random_buf
SHOWN void arc4random_buf(void *at, size_t size) { input(at, size, "arc4random_buf"); }
#endif

#ifdef SYM_CALLS_getrandom
SHOWN ssize_t getrandom(void *at, size_t size, unsigned flags) { return input(at, size, "getrandom"), size; }
#endif

/* Clients that connect (--sym-socket), for sockets.c: the objects `socket_PORT` and `datagram_PORT`, in their order. */

#ifdef SYM_SOCKETS
int wryneck_client(int number, int *port, int *datagram, const unsigned char **bytes, size_t *size)
{
	if (!test.loaded) load();
	for (size_t i = 0; i < test.count; i++) {
		struct object *o = &test.objects[i];
		*datagram = !strncmp(o->name, "datagram_", 9);
		if ((!*datagram && strncmp(o->name, "socket_", 7)) || number-- > 0) continue;
		*port = atoi(strchr(o->name, '_') + 1), *bytes = o->bytes, *size = o->size;
		return 1;
	}
	return 0;
}
#endif

#if defined SYM_SOCKETS || defined THREADS
void wryneck_own_calls(int begin)
{
#ifdef FAIL_CALLS
	within += begin ? 1 : -1;
#endif
}
#endif

/* What was compiled to report results that overflow goes on with what the processor computes, unless the sanitizer is there. */

#ifndef REPORTS_OVERFLOW
#define HANDLER(name) \
	void __ubsan_handle_##name(void); \
	WEAK void __ubsan_handle_##name(void) {}
HANDLER(add_overflow)
HANDLER(divrem_overflow)
HANDLER(float_cast_overflow)
HANDLER(implicit_conversion)
HANDLER(mul_overflow)
HANDLER(negate_overflow)
HANDLER(shift_out_of_bounds)
HANDLER(sub_overflow)
#endif

/* wryneck.h */

WEAK void wryneck_make_symbolic(void *address, size_t size, const char *name) { input(address, size, name); }
WEAK void wryneck_assume(int condition) { if (!condition) drop(); }
WEAK uint64_t wryneck_concretise(uint64_t value) { return value; }
WEAK int wryneck_is_symbolic(uint64_t value) { return (void)value, 0; }
WEAK int wryneck_is_replay(void) { return 1; }
WEAK size_t wryneck_room(const void *address) { return address ? SIZE_MAX : 0; }
WEAK void wryneck_report(const char *kind, const char *message) { finding(kind, message); }
WEAK void wryneck_drop(void) { drop(); }

WEAK int64_t wryneck_choose_range(int64_t low, int64_t high, const char *name)
{
	int64_t value;
	input(&value, sizeof value, name);
	if (value < low || value > high) drop();
	return value;
}

/* klee.h */

WEAK void klee_make_symbolic(void *addr, size_t nbytes, const char *name) { input(addr, nbytes, name); }
WEAK void klee_assume(uintptr_t condition) { if (!condition) drop(); }
WEAK void klee_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
WEAK void klee_posix_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
WEAK void klee_set_forking(unsigned enable) { (void)enable; }
WEAK void klee_open_merge(void) {}
WEAK void klee_close_merge(void) {}
WEAK void klee_silent_exit(int status) { (void)status, drop(); }
WEAK void klee_abort(void) { finding("abort", "klee_abort"); }
WEAK unsigned klee_is_symbolic(uintptr_t n) { return (void)n, 0; }
WEAK unsigned klee_is_replay(void) { return 1; }
WEAK size_t klee_get_obj_size(void *ptr) { return wryneck_room(ptr); }
WEAK float klee_get_valuef(float expr) { return expr; }
WEAK double klee_get_valued(double expr) { return expr; }
WEAK long klee_get_valuel(long expr) { return expr; }
WEAK long long klee_get_valuell(long long expr) { return expr; }
WEAK int32_t klee_get_value_i32(int32_t expr) { return expr; }
WEAK int64_t klee_get_value_i64(int64_t expr) { return expr; }
WEAK void klee_define_fixed_object(void *addr, size_t nbytes) { (void)addr, (void)nbytes; }
WEAK void klee_mark_global(void *object) { (void)object; }
WEAK void klee_check_memory_access(const void *address, size_t size) { (void)address, (void)size; }
WEAK void klee_warning(const char *message) { fprintf(stderr, "warning: %s\n", message); }
WEAK void klee_warning_once(const char *message) { klee_warning(message); }
WEAK void klee_print_expr(const char *msg, ...) { (void)msg; }
WEAK void klee_print_range(const char *name, int arg) { (void)name, (void)arg; }
WEAK void klee_stack_trace(void) {}
WEAK void klee_alias_function(const char *fn_name, const char *new_fn_name) { (void)fn_name, (void)new_fn_name; }
WEAK void klee_set_rounding_mode(enum KleeRoundingMode mode) { (void)mode; }

WEAK int klee_get_errno(void)
{
	extern int *__errno_location(void);
	return *__errno_location();
}

WEAK int klee_int(const char *name)
{
	int value;
	input(&value, sizeof value, name);
	return value;
}

WEAK int klee_range(int begin, int end, const char *name)
{
	int value;
	input(&value, sizeof value, name);
	if (value < begin || value >= end) drop();
	return value;
}

WEAK uintptr_t klee_choose(uintptr_t n)
{
	uintptr_t value;
	input(&value, sizeof value, "klee_choose");
	if (value >= n) drop();
	return value;
}

WEAK void klee_report_error(const char *file, int line, const char *message, const char *suffix)
{
	char text[1024];
	snprintf(text, sizeof text, "%s (%s:%d)", message, file, line);
	finding(suffix, text);
}

/* SV-COMP: an input is named by its function. */

#define NONDET(name, type) \
	type __VERIFIER_nondet_##name(void); \
	WEAK type __VERIFIER_nondet_##name(void) \
	{ \
		type value; \
		input(&value, sizeof value, "__VERIFIER_nondet_" #name); \
		return value; \
	}

NONDET(char, char)
NONDET(double, double)
NONDET(float, float)
NONDET(int, int)
NONDET(int128, __int128)
NONDET(loff_t, long)
NONDET(long, long)
NONDET(longlong, long long)
NONDET(pchar, char *)
NONDET(pointer, void *)
NONDET(pthread_t, unsigned long)
NONDET(sector_t, unsigned long)
NONDET(short, short)
NONDET(size_t, size_t)
NONDET(u16, uint16_t)
NONDET(u32, uint32_t)
NONDET(u64, uint64_t)
NONDET(u8, uint8_t)
NONDET(uchar, unsigned char)
NONDET(uint, unsigned)
NONDET(uint128, unsigned __int128)
NONDET(ulong, unsigned long)
NONDET(ulonglong, unsigned long long)
NONDET(unsigned, unsigned)
NONDET(ushort, unsigned short)

_Bool __VERIFIER_nondet_bool(void);
WEAK _Bool __VERIFIER_nondet_bool(void)
{
	unsigned char value;
	input(&value, sizeof value, "__VERIFIER_nondet_bool");
	return value & 1;
}

void __VERIFIER_nondet_memory(void *address, size_t size);
WEAK void __VERIFIER_nondet_memory(void *address, size_t size) { input(address, size, "__VERIFIER_nondet_memory"); }

void __VERIFIER_assume(int condition);
WEAK void __VERIFIER_assume(int condition) { if (!condition) drop(); }

void __VERIFIER_assert(int condition);
WEAK void __VERIFIER_assert(int condition)
{
	if (!condition) finding("assertion", "the condition of __VERIFIER_assert fails");
}

void __VERIFIER_error(void);
WEAK void __VERIFIER_error(void) { finding("reach_error", "__VERIFIER_error was called"); }

void reach_error(void);
WEAK void reach_error(void) { finding("reach_error", "reach_error was called"); }

void __VERIFIER_atomic_begin(void);
WEAK void __VERIFIER_atomic_begin(void) {}

void __VERIFIER_atomic_end(void);
WEAK void __VERIFIER_atomic_end(void) {}

/* The clock, as the explored path saw it: it begins at a fixed time and moves by a microsecond at each look and by every sleep, which
 * takes no time. A timer that would end the sleep rings at once, and any other one is set that much earlier. */

static uint64_t now = UINT64_C(1700000000) * 1000000;

static struct timespec look(uint64_t microseconds)
{
	now += microseconds;
	return (struct timespec) {now / 1000000, now % 1000000 * 1000};
}

#ifdef SYM_CALLS_clock_gettime
SHOWN int clock_gettime(clockid_t clock, struct timespec *time) { return input(time, sizeof *time, "clock_gettime"), 0; }
#else
SHOWN WEAK int clock_gettime(clockid_t clock, struct timespec *time)
{
	*time = look(1);
	return 0;
}
#endif

#ifdef SYM_CALLS_gettimeofday
SHOWN int gettimeofday(struct timeval *restrict time, void *restrict zone) { return input(time, sizeof *time, "gettimeofday"), 0; }
#else
SHOWN WEAK int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now = look(1);
	*time = (struct timeval) {now.tv_sec, now.tv_nsec / 1000};
	return 0;
}
#endif

#ifdef SYM_CALLS_time
SHOWN time_t time(time_t *at)
{
	time_t now;
	input(&now, sizeof now, "time");
	if (at) *at = now;
	return now;
}
#else
SHOWN WEAK time_t time(time_t *time)
{
	struct timespec now = look(1);
	if (time) *time = now.tv_sec;
	return now.tv_sec;
}
#endif

#define SECOND UINT64_C(1000000)

static void ring_in(struct itimerval *timer, uint64_t time)
{
	timer->it_value = (struct timeval) {time / SECOND, time % SECOND};
	setitimer(ITIMER_REAL, timer, NULL);
}

/* Sleeps for so many microseconds; how many are left where a signal has ended it. */
static uint64_t sleeps(uint64_t time)
{
	struct itimerval timer;
	getitimer(ITIMER_REAL, &timer);
	uint64_t rest = timer.it_value.tv_sec * SECOND + timer.it_value.tv_usec;
	int ended = 0;
	if (rest && rest <= time) {
		/* Its signal, which may be ignored or blocked, comes in the wait and not before. */
		sigset_t ring, mask;
		sigemptyset(&ring);
		sigaddset(&ring, SIGALRM);
		sigprocmask(SIG_BLOCK, &ring, &mask);
		ring_in(&timer, 1);
		struct timespec most = {0, 20000000};
		ended = syscall(SYS_ppoll, NULL, 0, &most, &mask, _NSIG / 8) < 0;
		sigprocmask(SIG_SETMASK, &mask, NULL);
	} else if (rest) {
		ring_in(&timer, rest - time);
	}
	look(ended ? rest : time);
	return ended ? time - rest : 0;
}

static int interrupted(void)
{
	errno = EINTR;
	return -1;
}

SHOWN WEAK int nanosleep(const struct timespec *time, struct timespec *left)
{
	uint64_t rest = sleeps(time->tv_sec * SECOND + time->tv_nsec / 1000);
	if (rest && left) *left = (struct timespec) {rest / SECOND, rest % SECOND * 1000};
	return rest ? interrupted() : 0;
}

SHOWN WEAK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	uint64_t until = time->tv_sec * SECOND + time->tv_nsec / 1000;
	/* The error is the result. */
	if (flags) return sleeps(until > now ? until - now : 0) ? EINTR : 0;
	return nanosleep(time, left) ? EINTR : 0;
}

SHOWN WEAK int poll(struct pollfd *descriptors, nfds_t count, int milliseconds)
{
	int ready = syscall(SYS_poll, descriptors, count, milliseconds < 0 ? milliseconds : 0);
	return ready == 0 && milliseconds > 0 && sleeps(milliseconds * UINT64_C(1000)) ? interrupted() : ready;
}

/* For threads/threads.c, where the program has threads. */

#ifdef THREADS
int wryneck_schedule(void)
{
	unsigned char chosen;
	if (!find("schedule")) return -1;
	input(&chosen, 1, "schedule");
	return chosen;
}

const char *wryneck_order_file(void) { return order_file; }
uint64_t *wryneck_clock(void) { return &now; }
_Noreturn void wryneck_ends(const char *kind, const char *message)
{
	/* Nothing is flushed: a thread that waits may hold a stream. */
	say("scheduler: %s: %s", kind, message);
	signal(SIGABRT, SIG_DFL);
	abort();
}

_Noreturn void wryneck_cannot(const char *why, const char *what) { cannot(why, what); }
#endif

/* Fuzz harnesses: inputs `size` (8 bytes, little-endian; all of `data` if the test has none) and `data`. The harness gets a
 * block of exactly `size` bytes, so that reading beyond it is seen. */

extern WEAK int LLVMFuzzerInitialize(int *argc, char ***argv);
extern WEAK int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

WEAK int main(int argc, char **argv)
{
	if (!LLVMFuzzerTestOneInput) cannot("the program has no", "main");
	if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
	struct object *data = find("data");
	uint64_t size = data ? data->size : 0;
	if (find("size")) input(&size, sizeof size, "size");
	if (data ? size > data->size : size) cannot("longer than the test's `data` is its", "size");
	uint8_t *block = malloc(size);
	if (size) memcpy(block, data->bytes, size);
	LLVMFuzzerTestOneInput(block, size);
	free(block);
	return 0;
}
