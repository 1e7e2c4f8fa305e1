/* Native replay of heap faults in programs of the host's C library that no sanitizer watches: a shared library that their loader maps first
 * (LD_PRELOAD). Each block ends where a page begins that nobody may touch, and a block that was freed is never given again.
 *
 *   WRYNECK_HEAP=FILE    where the first fault goes, one line in the words of the address sanitizer
 *   WRYNECK_ALIGN=16     blocks begin where those of the C library do, so up to 15 bytes behind a block are watched for writes alone, when it is
 *                        freed and at the end; without it a block begins where its size allows, and no byte is behind it
 *
 * Nothing is said of a fault that does not show: one within a page before a block, and every one once there are MOST blocks, which the C library
 * makes then. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

enum { PAGE = 4096, MOST = 1 << 14, ALTERNATE = 1 << 16, FILL = 0xbd };

/* One block: its pages, `first` of the region and `pages` of them, of which the last is the one that nobody may touch. */
struct block {
	unsigned char *at;
	size_t size, first, pages;
	int freed;
};

static struct block blocks[MOST];
static int count, lock;
static unsigned char *region;
static size_t room, used; /* in pages */
static int *owner;        /* by page: the number of its block */
static size_t least;      /* how blocks are aligned; 0: as their sizes allow */
static const char *file;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

static void enter(void) { while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) usleep(1); }
static void leave(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

/* Writes one line, by system calls alone. */
static void say(const char *what, const struct block *of, const void *at)
{
	char line[256];
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	int n = snprintf(line, sizeof line, "ERROR: heap guard: %s on address %p, block %p of %zu bytes\n", what, at, of ? of->at : 0, of ? of->size : 0);
	if (fd >= 0 && write(fd, line, n) == n) close(fd);
}

static void end(const char *what, const struct block *of, const void *at)
{
	say(what, of, at);
	signal(SIGABRT, SIG_DFL);
	abort();
}

static int in_region(const void *at) { return region && (unsigned char *)at >= region && (unsigned char *)at < region + room * PAGE; }

/* The block whose pages an address is in. */
static struct block *around(const void *at)
{
	size_t page = in_region(at) ? ((unsigned char *)at - region) / PAGE : used;
	return page < used ? &blocks[owner[page]] : 0;
}

/* Whether the bytes beside a block, in its own pages, are as they were. */
static int is_whole(const struct block *b)
{
	const unsigned char *begin = region + b->first * PAGE, *end = begin + (b->pages - 1) * PAGE;
	for (const unsigned char *p = begin; p < b->at; p++)
		if (*p != FILL) return 0;
	for (const unsigned char *p = b->at + b->size; p < end; p++)
		if (*p != FILL) return 0;
	return 1;
}

static void faulted(int signal_number, siginfo_t *info, void *context)
{
	const struct block *of = around(info->si_addr);
	(void)context;
	if (of) say(of->freed ? "heap-use-after-free" : "heap-buffer-overflow", of, info->si_addr);
	signal(signal_number, SIG_DFL);
}

static void at_exit(void)
{
	for (int i = 0; i < count; i++)
		if (!blocks[i].freed && !is_whole(&blocks[i])) end("heap-buffer-overflow", &blocks[i], blocks[i].at);
}

static void begin(void)
{
	for (room = 1 << 22; room >= 1 << 14; room >>= 2) {
		region = mmap(0, room * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (region != MAP_FAILED) break;
	}
	if (region != MAP_FAILED) owner = mmap(0, room * sizeof *owner, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (region == MAP_FAILED || owner == MAP_FAILED) region = 0, room = 0;
}

/* After the C library's own start; what was allocated before is in the region, too. */
__attribute__((constructor(101))) static void watch(void)
{
	static char stack[ALTERNATE];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	file = getenv("WRYNECK_HEAP");
	least = getenv("WRYNECK_ALIGN") ? 16 : 0;
	unsetenv("WRYNECK_HEAP"), unsetenv("WRYNECK_ALIGN"), unsetenv("LD_PRELOAD");
	sigaltstack(&alternate, 0);
	sigaction(SIGSEGV, &action, 0);
	sigaction(SIGBUS, &action, 0);
	atexit(at_exit);
}

/* A block of pages of its own; 0: there is no room for one more. `align`: 0, if nothing was asked for. */
static void *take(size_t align, size_t size)
{
	void *at = 0;
	enter();
	if (!region && !room && !count) begin();
	size_t natural = size ? size & -size : 1;
	if (!align) align = least ? least : natural < 16 ? natural : 16;
	size_t pages = (size + align - 1) / PAGE + 2;
	if (count < MOST && align <= PAGE && size < (size_t)1 << 32 && pages <= room - used) {
		unsigned char *begin = region + used * PAGE, *end = begin + (pages - 1) * PAGE;
		if (!mprotect(begin, (pages - 1) * PAGE, PROT_READ | PROT_WRITE)) {
			struct block *b = &blocks[count];
			*b = (struct block) {(unsigned char *)((uintptr_t)(end - size) & -align), size, used, pages, 0};
			for (size_t i = 0; i < pages; i++) owner[used + i] = count;
			used += pages, count++;
			memset(begin, FILL, b->at - begin);
			memset(b->at + size, FILL, end - (b->at + size));
			at = b->at;
		}
	}
	leave();
	return at;
}

/* The live block that begins here. 0: it is none of ours. */
static struct block *own(void *at)
{
	struct block *b = around(at);
	if (!b) return 0;
	if (b->freed) end("double-free", b, at);
	if (b->at != at) end("attempting free on address which was not malloc()-ed", b, at);
	if (!is_whole(b)) end("heap-buffer-overflow", b, at);
	return b;
}

SHOWN void free(void *at)
{
	struct block *b = own(at);
	if (!b) {
		if (at) __libc_free(at);
		return;
	}
	enter();
	b->freed = 1;
	mmap(region + b->first * PAGE, b->pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	leave();
}

SHOWN void *malloc(size_t size)
{
	void *at = take(0, size);
	if (at) memset(at, 0xbe, size);
	return at ? at : __libc_malloc(size);
}

SHOWN void *calloc(size_t n, size_t size)
{
	size_t all;
	if (__builtin_mul_overflow(n, size, &all)) return errno = ENOMEM, (void *)0;
	void *at = take(0, all);
	return at ? at : __libc_calloc(n, size);
}

SHOWN void *memalign(size_t align, size_t size)
{
	void *at = !align || align & (align - 1) ? 0 : take(align, size);
	return at ? at : __libc_memalign(align, size);
}

SHOWN void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
SHOWN void *valloc(size_t size) { return memalign(PAGE, size); }
SHOWN void *pvalloc(size_t size) { return memalign(PAGE, (size + PAGE - 1) & -(size_t)PAGE); }

SHOWN int posix_memalign(void **to, size_t align, size_t size)
{
	if (!align || align & (align - 1) || align % sizeof *to) return EINVAL;
	void *at = memalign(align, size);
	return at ? *to = at, 0 : ENOMEM;
}

SHOWN void *realloc(void *old, size_t size)
{
	struct block *b = old ? own(old) : 0;
	if (old && !b) return __libc_realloc(old, size);
	if (old && !size) return free(old), (void *)0;
	void *at = malloc(size);
	if (!at || !old) return at;
	memcpy(at, old, b->size < size ? b->size : size);
	free(old);
	return at;
}

SHOWN size_t malloc_usable_size(void *at)
{
	struct block *b = around(at);
	return b ? b->size : 0;
}
