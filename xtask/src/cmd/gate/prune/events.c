/* The events of random programs (rule.toml, more.toml have them as rules), and what runs the programs natively on every input.
 *
 * A native run notes events as they happen, in the words of `wryneck verify --sequences`: `rule/event#N`, where N numbers the keys of a
 * rule in the order in which the path meets them. Addresses are keys, so memory is never handed out twice. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef NATIVE
#include <stdint.h>
#include <stdio.h>
static struct note {
  const char *rule, *event;
  uint64_t key;
} notes[1 << 14];
static int noted;
static jmp_buf stop;
static void (*last)(void);
static unsigned char given[3];
static _Alignas(16) char memory[1 << 16];
static size_t taken;

static void note(const char *rule, const char *event, uint64_t key) {
  if (noted == sizeof notes / sizeof *notes) abort();
  notes[noted++] = (struct note){rule, event, key};
}

static void *take(size_t size) {
  void *at = memory + taken;
  if ((taken += (size + 15) & -16) > sizeof memory) abort();
  return at;
}
#define NOTE(happens, rule, event, key) ((happens) ? note(rule, event, (uint64_t)(key)) : (void)0)
#define malloc take
#define free(at) ((void)(at))
#define atexit(f) ((void)(last = (f)))
#define exit(status) longjmp(stop, 1)
#define wryneck_assume(holds) ((holds) ? (void)0 : longjmp(stop, 2))
#define wryneck_make_symbolic(at, size, name) memcpy(at, given, size)
#else
#include <wryneck.h>
#define NOTE(happens, rule, event, key) ((void)0)
#endif

/* What an event does is not known where it is called, at -O2 neither. */
#define OPAQUE __attribute__((noinline, optnone))
static int cells[4];
/* Handlers of the blocks in progress. */
static jmp_buf landing[4];
static int armed;

OPAQUE void ev0(void) { NOTE(1, "rule", "e0", 0); }
OPAQUE void ev1(void) { NOTE(1, "rule", "e1", 0); }
OPAQUE void ev2(void) { NOTE(1, "rule", "e2", 0); }
OPAQUE int evk(int k) {
  NOTE(1, "rule", "k", k);
  return k;
}
OPAQUE void evp(void *p) { NOTE(1, "rule", "p", p); }
OPAQUE int evw(int k) {
  NOTE(k != 0, "rule", "w", 0);
  return k == 0;
}
OPAQUE int evr(int k, int j) {
  int result = k & 1;
  NOTE(result != 0, "rule", "r", j);
  return result;
}
OPAQUE int *evq(int k) {
  int *result = k ? &cells[k & 3] : 0;
  NOTE(result != 0, "more", "q", result);
  return result;
}
OPAQUE int evn(int k) {
  NOTE(1, "more", "n", 0);
  if (k > 1) ev1();
  return k & 1;
}
OPAQUE void evm(int **p) { NOTE(*p != 0, "more", "m", *p); }
OPAQUE int evx(int k) {
  NOTE(k == 2, "more", "x", 0);
  int result = k >> 1;
  NOTE(result == 0, "more", "y", k);
  return result;
}

__attribute__((unused, noinline)) static void throws(int k) {
  if (armed) longjmp(landing[--armed], k);
}
OPAQUE int evj(int k) {
  NOTE(1, "more", "j", k);
  if (k > 2) throws(k & 3);
  return k;
}

#ifdef NATIVE
struct program {
  int seed, values[3];
  void (*entry)(void), (*reset)(void);
};

static int number(int at) {
  int keys = 1;
  for (int i = 0; i < at; i++) {
    if (strcmp(notes[i].rule, notes[at].rule)) continue;
    int first = 1;
    for (int j = 0; j < i; j++) first &= strcmp(notes[j].rule, notes[i].rule) || notes[j].key != notes[i].key;
    if (notes[i].key == notes[at].key) return keys;
    keys += first;
  }
  return keys;
}

static void show(int seed) {
  printf("%d", seed);
  for (int i = 0; i < noted; i++) printf(" %s/%s#%d", notes[i].rule, notes[i].event, number(i));
  putchar('\n');
}

static void run(const struct program *program) {
  const int *values = program->values;
  for (int n = 0; n < values[0] * values[1] * values[2]; n++) {
    given[0] = n % values[0];
    given[1] = n / values[0] % values[1];
    given[2] = n / values[0] / values[1];
    memset(cells, 0, sizeof cells);
    memset(memory, 0, sizeof memory);
    taken = noted = armed = 0;
    last = 0;
    program->reset();
    switch (setjmp(stop)) {
    case 0: program->entry(); /* falls through */
    case 1:
      if (last) last();
      show(program->seed);
    }
  }
}
#endif

/* What hides an address or a write: as bytes, through memory streams, pipes, descriptors and files. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((unused)) static void copy_bytes(void *to, const void *from, unsigned long n) {
  unsigned char *p = to;
  for (const unsigned char *q = from; n--;) *p++ = *q++;
}

__attribute__((unused)) static void swap_bytes(void *x, void *y, unsigned long n) {
  for (unsigned char *p = x, *q = y; n--; p++, q++) {
    unsigned char t = *p;
    *p = *q;
    *q = t;
  }
}

/* Variables of frames, by their addresses. */
__attribute__((unused, noinline)) static void put(int *p, int value) { *p = value; }
__attribute__((unused, noinline)) static int *same(int *p) { return p; }
__attribute__((unused, noinline)) static void put_last(int n, ...) {
  __builtin_va_list rest;
  __builtin_va_start(rest, n);
  while (n-- > 1) __builtin_va_arg(rest, int *);
  int *p = __builtin_va_arg(rest, int *);
  *p = __builtin_va_arg(rest, int);
  __builtin_va_end(rest);
}

static unsigned turn;
__attribute__((unused)) static void put_bytes(unsigned char *ring, const void *from) {
  for (unsigned i = 0; i < 8; i++) ring[(turn + i) & 15] = ((const unsigned char *)from)[i];
}

__attribute__((unused)) static void get_bytes(void *to, const unsigned char *ring) {
  for (unsigned i = 0; i < 8; i++) ((unsigned char *)to)[i] = ring[(turn + i) & 15];
}

__attribute__((unused)) static int written_to_memory(int some) {
  char *text = 0;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return 0;
  if (some) fputs("q", stream);
  fclose(stream);
  return size & 7;
}

__attribute__((unused)) static int through_pipe(int some) {
  int ends[2], got;
  char byte = 0;
  if (pipe(ends)) return 0;
  if (some) write(ends[1], "Z", 1);
  close(ends[1]);
  got = read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  return got;
}

__attribute__((unused)) static int next_descriptor(int some) {
  int first = -1, second, third;
  second = dup(0);
  if (some) first = dup(0);
  third = dup(0);
  close(second);
  if (first >= 0) close(first);
  close(third);
  return third - second;
}

/* Hooks: nobody sets the first one, the others are set by name, through a pointer, and as bytes. */
static int (*no_hook)(void), (*named_hook)(void), (*pointed_hook)(void), (*byte_hook)(void);

static int one(void) { return 1; }

__attribute__((unused)) static int by_hook(int some) {
  int (**at)(void) = &pointed_hook, (*hook)(void) = one;
  int how = some % 3;
  named_hook = pointed_hook = byte_hook = 0;
  if (some) {
    if (how == 0) named_hook = one;
    else if (how == 1) *at = one;
    else for (unsigned i = 0; i < sizeof hook; i++) ((volatile unsigned char *)&byte_hook)[i] = ((unsigned char *)&hook)[i];
  }
  if (no_hook) return no_hook();
  return (named_hook ? named_hook() : 0) + (pointed_hook ? 2 * pointed_hook() : 0) + (byte_hook ? 3 * byte_hook() : 0);
}

/* What descriptor 0 is open on afterwards; it is what it was in the end. */
__attribute__((unused)) static int input_moved(int some) {
  int kept = dup(0), got;
  if (some) close(0);
  got = open("/dev/null", O_RDONLY);
  if (got > 0) close(got);
  dup2(kept, 0);
  close(kept);
  return got == 0;
}

__attribute__((unused)) static int read_back(int some) {
  char byte = 0;
  FILE *file = tmpfile();
  if (!file) return 0;
  if (some) putc(3, file);
  rewind(file);
  int got = getc(file);
  fclose(file);
  return got < 0 ? 0 : got;
}

/* What is written through an address that a search returns, or into memory that is allocated as the program runs. `(free)` is the library's. */
__attribute__((unused)) static int found(int some) {
  char text[] = "abcd";
  char *at = some > 1 ? strstr(text, "cd") : strchr(text, 'c');
  if (some) *at = 'z';
  return text[2] == 'z';
}

__attribute__((unused)) static int at_the_end(int some) {
  char text[] = "12ab", *end;
  strtol(text, &end, 10);
  if (some) *end = 'z';
  return text[2] == 'z';
}

__attribute__((unused)) static int of_length(int some) {
  volatile int length = 4;
  int array[length], *at = array + 2;
  *at = 0;
  if (some) *at = 1;
  return array[2];
}

__attribute__((unused)) static int used_again(int some) {
  int *first = calloc(1, 600000), got;
  if (some) *first = 1;
  got = *first;
  (free)(first);
  for (int i = 0; i < 2; i++) (free)(calloc(1, 600000));
  char *again = calloc(1, 600001);
  *again = 5;
  (free)(again);
  return got;
}

__attribute__((unused)) static int moved_on(int some) {
  char *at = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 0;
  if (some) at[5] = 1;
  at = mremap(at, 4096, 8192, MREMAP_MAYMOVE);
  int got = at[5];
  munmap(at, 8192);
  return got;
}

/* Errors: errno, and those of streams, beside output that changes neither. */
#include <errno.h>

__attribute__((unused)) static int call_failed(int some) {
  errno = 0;
  if (some) access("", F_OK);
  fputs("e", stderr);
  return errno == ENOENT;
}

__attribute__((unused)) static int close_failed(int some) {
  errno = 0;
  int result = some ? close(-1) : 0;
  fprintf(stderr, "%d", some);
  return errno == EBADF ? -result : 2;
}

__attribute__((unused)) static int number_too_large(int some) {
  errno = 5;
  if (some) strtol("99999999999999999999", 0, 10);
  fprintf(stderr, "%s %d", "n", some);
  return errno == ERANGE;
}

__attribute__((unused)) static int errno_by_address(int some) {
  int *at = &errno;
  errno = 0;
  if (some) *at = 3;
  fprintf(stderr, "%d", some);
  return errno;
}

__attribute__((unused)) static int errno_in_words(int some) {
  errno = some ? ENOENT : EBADF;
  const char *text = strerror(errno);
  fprintf(stderr, "%s", text);
  return text[0] == 'N';
}

__attribute__((unused)) static int errno_kept(int some) {
  errno = some & 7;
  int kept = errno;
  if (close(-1)) fputs("k", stderr);
  errno = kept;
  return errno;
}

__attribute__((unused)) static int written_or_not(int some) {
  errno = 0;
  long n = write(some ? -1 : 2, "w", 1);
  return errno ? 1 : n == 1 ? 2 : 0;
}

__attribute__((unused)) static int stream_failed(int some) {
  FILE *stream = fopen("/dev/null", "r");
  if (!stream) return 0;
  if (some) putc('s', stream);
  int failed = ferror(stream) != 0;
  fclose(stream);
  return failed;
}

__attribute__((unused)) static int input_written(int some) {
  if (some) fputs("i", stdin);
  int failed = ferror(stdin) != 0;
  clearerr(stdin);
  return failed;
}

__attribute__((unused)) static int stream_chosen(int some) {
  FILE *stream = some > 1 ? stdin : stderr;
  fputs("c", stream);
  int failed = ferror(stdin) != 0;
  clearerr(stdin);
  return failed;
}
