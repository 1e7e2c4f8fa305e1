/* Programs that a slicer gets wrong if it does not follow addresses as bytes and numbers, or prunes what it cannot follow. Each function is a
 * program of its own, on one symbolic byte: `-DTRAP=NAME` selects it. With `-DFIXED` it is its twin, which keeps the rule never.toml.
 * The comment after a function's head is the verdict. INCOMPLETE is that of bitcode; of an executable it may be VIOLATED, too. "Bitcode alone":
 * an executable would not link, all of it can be followed, or its debug information says that the access leaves its variable. "Executable
 * alone": bitcode does not have it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifdef FIXED
#define HIT 0
#define TARGET good
#define WRONG(c) ((c) == 'x' && never)
#else
#define HIT 1
#define TARGET bad
#define WRONG(c) ((c) == 'x')
#endif

typedef unsigned char byte;

static volatile int counted, never;
static int a, b;

__attribute__((noinline)) void good(void) { counted++; }
__attribute__((noinline)) void bad(void) { counted--; }

static void hit(char c, int *p) {
  if (c == 'x') *p = HIT;
}

static void judge(int wrong) {
  if (wrong) bad();
}

/* ---- addresses as bytes ---- */

static void swap_bytes(void *x, void *y, size_t n) {
  for (byte *p = x, *q = y; n--; p++, q++) {
    byte t = *p;
    *p = *q;
    *q = t;
  }
}

static void *copy_bytes(void *to, const void *from, size_t n) {
  byte *p = to;
  for (const byte *q = from; n--;) *p++ = *q++;
  return to;
}

void copied_by_hand(char c) { // VIOLATED
  int *p = &a, *q = &b;
  copy_bytes(&q, &p, sizeof q);
  hit(c, q);
  judge(a);
}

void copied_table(char c) { // VIOLATED
  static int *from[3], *to[3];
  from[1] = &a;
  copy_bytes(to, from, sizeof to);
  hit(c, to[1]);
  judge(a);
}

void swapped(char c) { // VIOLATED
  int *t[2] = {&a, &b};
  swap_bytes(&t[0], &t[1], sizeof t[0]);
  hit(c, t[1]);
  judge(a);
}

struct entry {
  int key, *p;
};

static int by_key(const void *x, const void *y) { return ((const struct entry *)x)->key - ((const struct entry *)y)->key; }

static void sort(void *table, unsigned n, size_t size, int (*compare)(const void *, const void *)) {
  char *t = table;
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j + 1 < n - i; j++)
      if (compare(t + j * size, t + (j + 1) * size) > 0) swap_bytes(t + j * size, t + (j + 1) * size, size);
}

void sorted_by_bytes(char c) { // VIOLATED
  struct entry t[2] = {{2, &a}, {1, &b}};
  sort(t, 2, sizeof *t, by_key);
  hit(c, t[1].p);
  judge(a);
}

void sorted_by_the_library(char c) { // VIOLATED
  struct entry t[2] = {{2, &a}, {1, &b}};
  qsort(t, 2, sizeof *t, by_key);
  hit(c, t[1].p);
  judge(a);
}

static byte ring[16];
static unsigned head, tail;
static void put(byte x) { ring[head++ & 15] = x; }
static byte get(void) { return ring[tail++ & 15]; }

void through_a_ring(char c) { // VIOLATED
  int *p = &a, *q;
  for (int i = 0; i < 8; i++) put(((byte *)&p)[i]);
  for (int i = 0; i < 8; i++) ((byte *)&q)[i] = get();
  hit(c, q);
  judge(a);
}

void on_the_heap(char c) { // VIOLATED
  struct entry *p = calloc(1, sizeof *p), *q;
  byte *text = malloc(sizeof p);
  for (unsigned i = 0; i < sizeof p; i++) text[i] = ((byte *)&p)[i];
  for (unsigned i = 0; i < sizeof p; i++) ((byte *)&q)[i] = text[i];
  hit(c, &q->key);
  judge(p->key);
}

void by_a_number_from_object_to_object(char c) { // VIOLATED, executable alone
  int *one = calloc(1, 16), *other = calloc(1, 16);
  intptr_t from = (intptr_t)other - (intptr_t)one, by = 0;
  if (WRONG(c)) by = from;
  *(int *)((intptr_t)one + by) = 1;
  judge(*other);
}

void not_aligned(char c) { // VIOLATED
  static char text[24];
  int *p = &a, *q;
  memcpy(text + 3, &p, sizeof p);
  memcpy(&q, text + 3, sizeof q);
  hit(c, q);
  judge(a);
}

void packed(char c) { // VIOLATED
  static struct __attribute__((packed)) {
    char tag;
    int *p;
  } s;
  s.p = &a;
  hit(c, s.p);
  judge(a);
}

void bytes_of_a_union(char c) { // VIOLATED
  static union {
    int *p;
    byte bytes[8];
  } u, w;
  u.p = &a;
  for (int i = 0; i < 8; i++) w.bytes[i] = u.bytes[i];
  hit(c, w.p);
  judge(a);
}

void number_of_a_union(char c) { // VIOLATED
  static union {
    int *p;
    uint64_t number;
  } u, w;
  u.p = &a;
  w.number = u.number;
  hit(c, w.p);
  judge(a);
}

typedef int __attribute__((may_alias)) any_word;

union overlaid {
  struct {
    int first, second;
  } number;
  byte bytes[8];
};

void word_in_a_variable(char c) { // VIOLATED
  union overlaid both = {{1, 5}};
  if (WRONG(c)) *(any_word *)(both.bytes + 4) = 9;
  judge(both.number.second == 9);
}

void text_over_a_number(char c) { // VIOLATED
  union overlaid both = {{1, 5}};
  if (WRONG(c)) strcpy((char *)both.bytes, "abcdef");
  judge(both.number.second != 5);
}

/* ---- addresses as numbers ---- */

void in_halves(char c) { // VIOLATED
  static uint32_t high, low;
  high = (uintptr_t)&a >> 32;
  low = (uintptr_t)&a;
  hit(c, (int *)((uintptr_t)high << 32 | low));
  judge(a);
}

void in_quarters(char c) { // VIOLATED
  static uint16_t t[4];
  uintptr_t number = 0;
  for (int i = 0; i < 4; i++) t[i] = (uintptr_t)&a >> 16 * i;
  for (int i = 3; i >= 0; i--) number = number << 16 | t[i];
  hit(c, (int *)number);
  judge(a);
}

static int *glue(int n, ...) {
  va_list rest;
  va_start(rest, n);
  uint64_t high = va_arg(rest, unsigned), low = va_arg(rest, unsigned);
  va_end(rest);
  return (int *)(high << 32 | low);
}

void as_variable_arguments(char c) { // VIOLATED
  hit(c, glue(2, (unsigned)((uintptr_t)&a >> 32), (unsigned)(uintptr_t)&a));
  judge(a);
}

void tagged(char c) { // VIOLATED
  static uintptr_t t;
  t = (uintptr_t)&a | 1;
  if (t & 1) hit(c, (int *)(t & ~(uintptr_t)1));
  judge(a);
}

void divided(char c) { // VIOLATED
  static uintptr_t t;
  t = (uintptr_t)&a / 4;
  hit(c, (int *)(t * 4));
  judge(a);
}

void in_the_other_byte_order(char c) { // VIOLATED
  static uint64_t t;
  t = __builtin_bswap64((uintptr_t)&a);
  hit(c, (int *)__builtin_bswap64(t));
  judge(a);
}

void bit_by_bit(char c) { // VIOLATED
  uintptr_t from = (uintptr_t)&a, to = 0;
  for (int i = 0; i < 64; i++)
    if (from >> i & 1) to |= (uintptr_t)1 << i;
  hit(c, (int *)to);
  judge(a);
}

void in_digits(char c) { // VIOLATED
  static char t[17];
  uintptr_t to = 0;
  for (int i = 0; i < 16; i++) t[i] = "0123456789abcdef"[(uintptr_t)&a >> (60 - 4 * i) & 15];
  for (int i = 0; i < 16; i++) to = to * 16 + (t[i] <= '9' ? t[i] - '0' : t[i] - 'a' + 10);
  hit(c, (int *)to);
  judge(a);
}

void swapped_by_xor(char c) { // VIOLATED
  uintptr_t p = (uintptr_t)&a, q = (uintptr_t)&b;
  p ^= q;
  q ^= p;
  p ^= q;
  hit(c, (int *)q);
  judge(a);
}

struct node {
  int value;
  uintptr_t links;
};

void linked_by_xor(char c) { // VIOLATED
  static struct node x, y, z;
  x.links = (uintptr_t)&y;
  y.links = (uintptr_t)&x ^ (uintptr_t)&z;
  z.links = (uintptr_t)&y;
  struct node *before = &x, *at = &y;
  hit(c, &((struct node *)(at->links ^ (uintptr_t)before))->value);
  judge(z.value);
}

void by_a_distance(char c) { // VIOLATED, bitcode alone
  static uintptr_t d;
  d = (uintptr_t)&a - (uintptr_t)&b;
  hit(c, (int *)((uintptr_t)&b + d));
  judge(a);
}

void by_its_own_distance(char c) { // VIOLATED
  static struct {
    int value, distance;
  } x, y;
  x.distance = (int)((char *)&y - (char *)&x);
  hit(c, (int *)((char *)&x + x.distance));
  judge(y.value);
}

void by_a_base(char c) { // VIOLATED
  static int pool[4];
  uintptr_t base = (uintptr_t)pool & ~(uintptr_t)0xffffffff;
  uint32_t offset = (uintptr_t)&a - base;
  hit(c, (int *)(base + offset));
  judge(a);
}

void as_a_double(char c) { // VIOLATED
  static double d;
  d = (double)(uintptr_t)&a;
  hit(c, (int *)(uintptr_t)d);
  judge(a);
}

/* ---- addresses through the library ---- */

void by_memccpy(char c) { // VIOLATED
  static int *p, *q;
  p = &a;
  memccpy(&q, &p, 256, sizeof p);
  hit(c, q);
  judge(a);
}

void by_wmemcpy(char c) { // VIOLATED
  static int *p, *q;
  p = &a;
  wmemcpy((wchar_t *)&q, (wchar_t *)&p, 2);
  hit(c, q);
  judge(a);
}

void by_swab(char c) { // VIOLATED
  static int *p, *q, *r;
  p = &a;
  swab(&p, &q, sizeof p);
  swab(&q, &r, sizeof p);
  hit(c, r);
  judge(a);
}

void printed(char c) { // VIOLATED
  static char text[32];
  snprintf(text, sizeof text, "%p", (void *)&a);
  hit(c, (int *)strtoul(text, 0, 16));
  judge(a);
}

void scanned(char c) { // VIOLATED
  static char text[32];
  void *q = &b;
  sprintf(text, "%p", (void *)&a);
  sscanf(text, "%p", &q);
  hit(c, q);
  judge(a);
}

void through_a_file(char c) { // VIOLATED
  int *p = &a, *q = &b;
  FILE *file = tmpfile();
  if (!file) return;
  fwrite(&p, sizeof p, 1, file);
  rewind(file);
  if (fread(&q, sizeof q, 1, file) == 1) hit(c, q);
  judge(a);
}

void through_a_pipe(char c) { // VIOLATED
  int *p = &a, *q = &b, ends[2];
  if (pipe(ends)) return;
  write(ends[1], &p, sizeof p);
  if (read(ends[0], &q, sizeof q) == sizeof q) hit(c, q);
  judge(a);
}

/* ---- addresses that searches return ---- */

void found_by_strchr(char c) { // VIOLATED
  static char text[] = "abc";
  char *found = strchr(text, 'b');
  if (WRONG(c)) *found = 'z';
  judge(text[1] == 'z');
}

void found_by_memchr(char c) { // VIOLATED
  static char text[] = "abc";
  char *found = memchr(text, 'c', 3);
  if (WRONG(c)) *found = 'z';
  judge(text[2] == 'z');
}

void found_by_strstr(char c) { // VIOLATED
  static char text[] = "abcd";
  char *found = strstr(text, "cd");
  if (WRONG(c)) *found = 'z';
  judge(text[2] == 'z');
}

void found_by_strpbrk(char c) { // VIOLATED
  static char text[] = "abcd";
  char *found = strpbrk(text, "dc");
  if (WRONG(c)) *found = 'z';
  judge(text[2] == 'z');
}

void found_by_wcsrchr(char c) { // VIOLATED
  static wchar_t text[] = L"abcb";
  wchar_t *found = wcsrchr(text, L'b');
  if (WRONG(c)) *found = 'z';
  judge(text[3] == 'z');
}

void found_by_strtok(char c) { // VIOLATED
  static char text[] = "ab,cd";
  strtok(text, ",");
  char *found = strtok(0, ",");
  if (WRONG(c)) *found = 'z';
  judge(text[3] == 'z');
}

void found_by_bsearch(char c) { // VIOLATED
  static struct entry t[] = {{1}, {3}, {5}};
  int key = 3;
  struct entry *found = bsearch(&key, t, 3, sizeof *t, by_key);
  if (WRONG(c)) found->p = &a;
  judge(t[1].p != 0);
}

void end_of_a_number(char c) { // VIOLATED
  static char text[] = "12ab";
  char *end;
  strtol(text, &end, 10);
  if (WRONG(c)) *end = 'z';
  judge(text[2] == 'z');
}

void end_of_a_copy(char c) { // VIOLATED
  static char text[8];
  char *end = stpcpy(text, "ab");
  if (WRONG(c)) *end = 'z';
  judge(text[2] == 'z');
}

void told_by_comparisons(char c) { // VIOLATED
  uintptr_t low = 0, high = (uintptr_t)1 << 47, p = (uintptr_t)&a;
  while (low < high) {
    uintptr_t middle = (low + high) / 2;
    if (middle < p) low = middle + 1;
    else high = middle;
  }
  hit(c, (int *)low);
  judge(a);
}

/* ---- floating-point numbers ---- */

void number_of_text(char c) { // VIOLATED
  char text[] = "1.5";
  if (WRONG(c)) text[0] = '7';
  judge(strtod(text, 0) > 5);
}

void long_number_of_text(char c) { // VIOLATED
  char text[] = "1.5";
  if (WRONG(c)) text[0] = '7';
  judge(strtold(text, 0) > 5);
}

void text_of_a_number(char c) { // VIOLATED
  char text[16];
  double number = 1.5;
  if (WRONG(c)) number = 7.5;
  snprintf(text, sizeof text, "%d %g", 3, number);
  judge(text[2] == '7');
}

/* ---- memory that is allocated as the program runs ---- */

static char *another(void) { return malloc(600001); }

void slot_used_again(char c) { // VIOLATED
  int *first = malloc(600000);
  *first = 0;
  hit(c, first);
  int got = *first;
  free(first);
  for (int i = 0; i < 2; i++) free(malloc(600000));
  *another() = 5;
  judge(got);
}

void small_slot_used_again(char c) { // VIOLATED
  int *first = malloc(16);
  *first = 0;
  hit(c, first);
  int got = *first;
  free(first);
  for (int i = 0; i < 23000; i++) free(malloc(16));
  *(char *)malloc(15) = 5;
  judge(got);
}

void array_of_variable_length(char c) { // VIOLATED
  volatile int n = 4;
  int t[n], *p = t + 2;
  *p = 0;
  hit(c, p);
  judge(t[2]);
}

void moved_mapping(char c) { // VIOLATED
  char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (WRONG(c)) p[5] = 'z';
  p = mremap(p, 4096, 8192, MREMAP_MAYMOVE);
  judge(p[5] == 'z');
}

#define ZEROS(size) mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)

void mapped_over(char c) { // VIOLATED
  char *p = ZEROS(8192);
  p[4096] = 1;
  if (WRONG(c)) mmap(p + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  judge(!p[4096]);
}

void moved_over(char c) { // INCOMPLETE
  char *p = ZEROS(8192), *q = ZEROS(4096);
  p[4096] = 1;
  if (WRONG(c)) mremap(q, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, p + 4096);
  judge(!p[4096]);
}

void break_that_comes_back(char c) { // VIOLATED
  char *p = (char *)syscall(SYS_brk, 0);
  syscall(SYS_brk, p + 8192);
  p[4096] = 1;
  if (WRONG(c)) {
    syscall(SYS_brk, p);
    syscall(SYS_brk, p + 8192);
  }
  judge(!p[4096]);
}

void memory_given_up(char c) { // VIOLATED
  char *p = ZEROS(8192);
  p[5000] = 1;
  if (WRONG(c)) madvise(p + 4096, 4096, MADV_DONTNEED);
  judge(!p[5000]);
}

void mapping_of_a_file_given_up(char c) { // VIOLATED
  int file = open("mapped", O_CREAT | O_RDWR, 0600);
  write(file, "ab", 2);
  char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  p[1] = 'c';
  if (WRONG(c)) madvise(p, 4096, MADV_DONTNEED);
  judge(p[1] == 'b');
}

/* ---- functions ---- */

static void nothing(void) {}

void function_in_bytes(char c) { // VIOLATED
  static void (*from)(void) = TARGET;
  void (*f)(void) = nothing;
  copy_bytes(&f, &from, sizeof f);
  if (c == 'x') f();
}

void function_tagged(char c) { // VIOLATED
  static uintptr_t t;
  t = (uintptr_t)TARGET << 1;
  if (c == 'x') ((void (*)(void))(t >> 1))();
}

void function_in_halves(char c) { // VIOLATED
  static uint32_t high, low;
  high = (uintptr_t)TARGET >> 32;
  low = (uintptr_t)TARGET;
  if (c == 'x') ((void (*)(void))((uintptr_t)high << 32 | low))();
}

void handed_to_atexit(char c) { // VIOLATED
  if (WRONG(c)) atexit(bad);
}

void handed_to_pthread_once(char c) { // VIOLATED
  static pthread_once_t once;
  if (WRONG(c)) pthread_once(&once, bad);
}

void file_behind_a_mapping(char c) { // VIOLATED
  int file = open("mapped", O_RDWR | O_CREAT | O_TRUNC, 0600);
  ftruncate(file, 4096);
  char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (WRONG(c)) pwrite(file, "z", 1, 0);
  judge(p[0] == 'z');
}

void stack_of_handlers(char c) { // VIOLATED
  static char room[8192];
  stack_t mine = {.ss_sp = room, .ss_size = sizeof room}, now = {0};
  if (WRONG(c)) sigaltstack(&mine, 0);
  sigaltstack(0, &now);
  judge(now.ss_sp == room);
}

static void (*piped_hook)(void), (*copied_hook)(void), (*unset_hook)(void);

void hook_through_a_pipe(char c) { // VIOLATED
  void (*hook)(void) = c == 'x' ? TARGET : good;
  int p[2];
  pipe(p);
  write(p[1], &hook, sizeof hook);
  read(p[0], &piped_hook, sizeof piped_hook);
  if (piped_hook) piped_hook();
}

void hook_that_is_copied(char c) { // VIOLATED
  void (*hook)(void) = TARGET;
  if (c == 'x') memcpy((char *)&unset_hook + ((char *)&copied_hook - (char *)&unset_hook), &hook, sizeof hook);
  if (copied_hook) copied_hook();
}

struct five {
  long number[5];
};

__attribute__((noinline)) static long last_of(struct five all) {
  all.number[1]++;
  return all.number[4];
}

void structure_by_value(char c) { // VIOLATED
  struct five all = {{1, 2, 3, 4, 5}};
  if (WRONG(c)) all.number[4] = 20;
  judge(last_of(all) == 20);
}

long (*volatile by_pointer)(struct five) = last_of;

void structure_to_a_pointer(char c) { // VIOLATED
  struct five all = {{1, 2, 3, 4, 5}};
  if (WRONG(c)) all.number[4] = 20;
  judge(by_pointer(all) == 20);
}

/* ---- time that passes ---- */

static long long millis(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void waited_by_poll(char c) { // VIOLATED
  long long before = millis();
  if (WRONG(c)) poll(0, 0, 1200);
  judge(millis() - before > 1000);
}

void waited_for_a_pipe(char c) { // VIOLATED
  int p[2];
  struct timespec time = {1, 200000000};
  if (pipe(p)) return;
  struct pollfd one = {.fd = p[0], .events = POLLIN};
  long long before = millis();
  if (WRONG(c)) ppoll(&one, 1, &time, 0);
  judge(millis() - before > 1000);
}

void slept_until(char c) { // VIOLATED
  struct timespec until;
  long long before = millis();
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 2;
  if (WRONG(c)) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
  judge(millis() - before > 1000);
}

void through_a_socket(char c) { // VIOLATED
  int ends[2];
  char got = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return;
  if (WRONG(c)) send(ends[0], "Z", 1, 0);
  shutdown(ends[0], SHUT_WR);
  judge(recv(ends[1], &got, 1, 0) == 1);
}

void bytes_that_wait(char c) { // VIOLATED
  int ends[2], waiting = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return;
  if (WRONG(c)) write(ends[0], "Z", 1);
  ioctl(ends[1], FIONREAD, &waiting);
  judge(waiting == 1);
}

void part_of_a_character(char c) { // VIOLATED
  mbstate_t state = {0};
  setlocale(LC_ALL, "C.UTF-8");
  if (WRONG(c)) mbrlen("\xc3", 1, &state);
  judge(!mbsinit(&state));
}

/* ---- standard input, moved ---- */

void input_closed_twice(char c) { // VIOLATED
  close(0);
  if (c == 'x') judge(HIT && fclose(stdin) != 0);
}

void input_is_a_new_file(char c) { // VIOLATED
  int p[2];
  close(0);
  pipe(p);
  if (WRONG(c)) write(p[1], "q", 1);
  else write(p[1], "r", 1);
  judge(getchar() == 'q');
}

void input_frees_a_number(char c) { // VIOLATED
  int other = open("/dev/null", O_RDONLY);
  if (WRONG(c)) close(0);
  judge(open("/dev/null", O_RDONLY) < other);
}

/* ---- what descriptors and the library know ---- */

void nonblocking_by_request(char c) { // VIOLATED
  int p[2], on = 1;
  if (pipe(p)) return;
  if (WRONG(c)) ioctl(p[0], FIONBIO, &on);
  judge(fcntl(p[0], F_GETFL) & O_NONBLOCK);
}

void closed_on_exec_by_request(char c) { // VIOLATED
  int p[2];
  if (pipe(p)) return;
  if (WRONG(c)) ioctl(p[0], FIOCLEX);
  judge(fcntl(p[0], F_GETFD));
}

void lock_of_what_is_only_read(char c) { // VIOLATED
  int file = open("locked", O_CREAT | (WRONG(c) ? O_RDONLY : O_RDWR), 0600);
  struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
  judge(fcntl(file, F_SETLK, &lock) < 0);
}

void lock_of_another_open_file(char c) { // INCOMPLETE
  int one = open("locked", O_CREAT | O_RDWR, 0600), other = open("locked", O_RDWR);
  struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
  if (WRONG(c)) judge(fcntl(one, F_OFD_SETLK, &lock) || fcntl(other, F_OFD_SETLK, &lock));
}

void domain_of_texts(char c) { // VIOLATED
  if (WRONG(c)) textdomain("program");
  judge(!strcmp(textdomain(0), "program"));
}

void orientation_of_a_stream(char c) { // VIOLATED
  if (WRONG(c)) putwchar(L'a');
  judge(fwide(stdout, 0) > 0);
}

/* Compilers take it that `atof` changes no errno. */
__attribute__((noinline)) int last_error(void) { return errno; }

void errno_of_a_number(char c) { // VIOLATED
  errno = 0;
  if (WRONG(c)) counted = atof("1e999") > 1;
  judge(last_error() == ERANGE);
}

void errno_of_a_signal(char c) { // VIOLATED
  sigset_t set;
  sigemptyset(&set);
  errno = 0;
  if (WRONG(c)) sigaddset(&set, 999);
  judge(errno == EINVAL);
}

void mode_of_a_stream(char c) { // VIOLATED
  int file = open("appended", O_CREAT | O_RDWR, 0600);
  if (WRONG(c)) fdopen(file, "a");
  judge(fcntl(file, F_GETFL) & O_APPEND);
}

void length_of_output(char c) { // VIOLATED
  int length = 0;
  if (WRONG(c)) printf("abc%n\n", &length);
  judge(length == 3);
}

void length_by_a_chosen_format(char c) { // VIOLATED
  int length = 0;
  const char *format = never ? "a\n" : "abcd%n\n";
  if (WRONG(c)) printf(format, &length);
  judge(length == 4);
}

void character_that_has_no_bytes(char c) { // VIOLATED
  errno = 0;
  if (WRONG(c)) printf("%lc\n", (wint_t)0x20ac);
  judge(errno == EILSEQ);
}

/* ---- sides that cannot be followed ---- */

void saved_jump(char c) { // VIOLATED
  sigset_t one, now;
  sigjmp_buf saved;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  if (!sigsetjmp(saved, 1)) {
    sigprocmask(SIG_BLOCK, &one, 0);
    siglongjmp(saved, 1);
  }
  sigprocmask(SIG_BLOCK, 0, &now);
  judge(WRONG(c) && !sigismember(&now, SIGUSR1));
}

void rounded_otherwise(char c) { // INCOMPLETE
  volatile double one = 1, three = 3;
  if (WRONG(c)) fesetround(FE_UPWARD);
  judge(one / three > 0.33333333333333333);
}

void raised_flags(char c) { // INCOMPLETE
  volatile double one = 1, three = 3;
  if (WRONG(c)) judge((one / three, fetestexcept(FE_INEXACT)));
}

void larger_pipe(char c) { // INCOMPLETE
  int p[2];
  if (pipe(p)) return;
  if (WRONG(c)) fcntl(p[1], F_SETPIPE_SZ, 131072);
  judge(fcntl(p[0], F_GETPIPE_SZ) == 131072);
}

static jmp_buf back;
static void handler(int number) { judge(number); }

void long_jump(char c) { // VIOLATED
  if (setjmp(back)) judge(1);
  else if (WRONG(c)) longjmp(back, 1);
}

static void jump(int n) { longjmp(back, n); }

void long_jump_in_a_call(char c) { // VIOLATED
  if (setjmp(back)) judge(1);
  else if (WRONG(c)) jump(1);
}

void raised(char c) { // VIOLATED
  signal(SIGUSR1, handler);
  if (WRONG(c)) raise(SIGUSR1);
}

void killed(char c) { // VIOLATED
  signal(SIGUSR2, handler);
  if (WRONG(c)) kill(getpid(), SIGUSR2);
}

void alarmed(char c) { // VIOLATED
  signal(SIGALRM, handler);
  if (WRONG(c)) alarm(1), pause();
}

void assembly(char c) { // INCOMPLETE, bitcode alone
  int n = 0;
  if (WRONG(c)) __asm__ volatile("rdtsc" : "=a"(n) : : "rdx");
  counted += n & 0;
}

/* ---- handlers of signals ---- */

static void (*volatile called)(void);
static void sets(int number) { called = TARGET; }

void raised_sets(char c) { // VIOLATED
  signal(SIGUSR1, sets);
  if (c == 'x') raise(SIGUSR1);
  if (called) called();
}

void handler_of_input(char c) { // VIOLATED
  if (WRONG(c)) signal(SIGUSR1, handler);
  raise(SIGUSR1);
}

void handler_of_ignored(char c) { // VIOLATED
  if (WRONG(c)) signal(SIGCHLD, handler);
  raise(SIGCHLD);
}

void unblocked(char c) { // VIOLATED
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, 0);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  if (WRONG(c)) sigprocmask(SIG_UNBLOCK, &one, 0);
}

void blocked_before(char c) { // VIOLATED
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  if (!WRONG(c)) sigprocmask(SIG_BLOCK, &one, 0);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
}

void aborted(char c) { // VIOLATED
  signal(SIGABRT, handler);
  if (WRONG(c)) abort();
}

void handler_of_abort(char c) { // VIOLATED
  if (WRONG(c)) signal(SIGABRT, handler);
  abort();
}

void broken_pipe(char c) { // VIOLATED
  int p[2];
  if (pipe(p)) return;
  signal(SIGPIPE, handler);
  if (WRONG(c)) close(p[0]);
  write(p[1], "", 1);
}

void handler_of_broken_pipe(char c) { // VIOLATED
  int p[2];
  if (pipe(p)) return;
  close(p[0]);
  signal(SIGPIPE, SIG_IGN);
  if (WRONG(c)) signal(SIGPIPE, handler);
  write(p[1], "", 1);
}

void slept_past_alarm(char c) { // VIOLATED
  signal(SIGALRM, handler);
  alarm(1);
  if (WRONG(c)) sleep(2);
}

void alarm_before_sleep(char c) { // VIOLATED
  signal(SIGALRM, handler);
  if (WRONG(c)) alarm(1);
  sleep(2);
}

void handler_of_alarm(char c) { // VIOLATED
  signal(SIGALRM, SIG_IGN);
  if (WRONG(c)) signal(SIGALRM, handler);
  alarm(1);
  sleep(2);
}

void polled_past_alarm(char c) { // VIOLATED
  signal(SIGALRM, handler);
  alarm(1);
  if (WRONG(c)) poll(0, 0, 2000);
}

static int quits;
static void quit(int number) { quits = 1; }

void waited_for(char c) { // VIOLATED
  sigset_t one;
  int got = 0;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, 0);
  if (WRONG(c)) raise(SIGUSR1);
  sigpending(&one);
  judge(sigismember(&one, SIGUSR1));
}

void flag_of_handler(char c) { // VIOLATED
  signal(SIGHUP, quit);
  if (WRONG(c)) kill(getpid(), SIGHUP);
  judge(quits);
}

static sigjmp_buf out_of;
static void leaves(int number) { siglongjmp(out_of, 1); }

void left_by_jump(char c) { // VIOLATED
  signal(SIGUSR2, leaves);
  if (sigsetjmp(out_of, 1)) {
    judge(1);
    return;
  }
  if (WRONG(c)) raise(SIGUSR2);
}

void reset_by_signal(char c) { // VIOLATED
  struct sigaction action = {.sa_handler = quit};
  if (WRONG(c)) action.sa_flags = SA_RESETHAND;
  sigaction(SIGCHLD, &action, 0);
  raise(SIGCHLD);
  sigaction(SIGCHLD, 0, &action);
  judge(action.sa_handler == SIG_DFL);
}

void flushed_at_exit(char c) { // VIOLATED
  int p[2];
  if (pipe(p)) return;
  signal(SIGPIPE, handler);
  fputs("text", fdopen(p[1], "w"));
  if (WRONG(c)) close(p[0]);
}

void masked_wait(char c) { // VIOLATED
  sigset_t one, none;
  struct timespec time = {0, 1000};
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigprocmask(SIG_BLOCK, &one, 0);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  if (WRONG(c)) pselect(0, 0, 0, 0, &time, &none);
}

void selected(char c) { // VIOLATED
  int p[2];
  fd_set set;
  struct timeval time = {0, 0};
  if (pipe(p)) return;
  if (WRONG(c)) write(p[1], "", 1);
  FD_ZERO(&set);
  FD_SET(p[0], &set);
  judge(select(p[0] + 1, &set, 0, 0, &time) == 1);
}

void time_in_select(char c) { // VIOLATED
  struct timeval time_left = {3, 0};
  time_t before = time(0);
  if (WRONG(c)) select(0, 0, 0, 0, &time_left);
  judge(time(0) - before > 1);
}

void left_of_timer(char c) { // VIOLATED
  if (WRONG(c)) alarm(5);
  judge(alarm(0) > 1);
}

void full_device(char c) { // VIOLATED
  int full = open("/dev/full", O_RDWR);
  judge(WRONG(c) && write(full, "x", 1) < 0);
}

void full_device_of_stream(char c) { // VIOLATED
  FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");
  fputc('a', WRONG(c) ? full : null);
  fflush(full);
  fflush(null);
  judge(ferror(full));
}

/* ---- variables of frames, to which pointers lead ---- */

static int *same(int *p) { return p; }

void in_a_frame_by_a_callee(char c) { // VIOLATED
  int x = 0;
  hit(c, &x);
  judge(x);
}

void in_a_frame_by_a_result(char c) { // VIOLATED
  int x = 0, *p = same(&x);
  if (WRONG(c)) *p = 1;
  judge(x);
}

void in_a_frame_by_a_structure(char c) { // VIOLATED
  int x = 0;
  struct entry e = {1, &x}, *q = &e;
  if (WRONG(c)) *q->p = 1;
  judge(x);
}

void in_a_frame_by_a_number(char c) { // VIOLATED
  int x = 0;
  uintptr_t n = (uintptr_t)&x * 2;
  if (WRONG(c)) *(int *)(n / 2) = 1;
  judge(x);
}

void in_a_frame_by_the_heap(char c) { // VIOLATED
  int x = 0, **box = malloc(sizeof *box);
  *box = &x;
  if (WRONG(c)) **box = 1;
  judge(x);
}

static void hit_last(char c, int n, ...) {
  va_list rest;
  va_start(rest, n);
  while (n-- > 1) va_arg(rest, int *);
  hit(c, va_arg(rest, int *));
  va_end(rest);
}

void in_a_frame_by_variable_arguments(char c) { // VIOLATED
  int x = 0, y = 0;
  hit_last(c, 2, &y, &x);
  judge(x);
}

void in_a_frame_by_a_choice(char c) { // VIOLATED
  int x = 0, y = 0;
  *(c == 'x' ? &x : &y) = HIT;
  judge(x);
}

void in_a_frame_by_an_index(char c) { // VIOLATED
  int t[2] = {0, 0};
  long i = 40;
  if (WRONG(c)) t[i - 39] = 1;
  judge(t[1]);
}

static void hit_before(char c, int *end) {
  if (WRONG(c)) end[-1] = 1;
}

void in_a_frame_by_its_end(char c) { // VIOLATED
  struct {
    int t[8];
  } first;
  int x = 0;
  struct {
    int t[8];
  } last;
  memset(&first, 0, sizeof first);
  memset(&last, 0, sizeof last);
  hit_before(c, &x + 1);
  judge(x);
}

static void of_parameters(char c, int x) {
  hit(c, &x);
  judge(x);
}

void in_a_frame_of_parameters(char c) { of_parameters(c, 0); } // VIOLATED

static void of_many(char c, int n2, int n3, int n4, int n5, int n6, int n7, int n8) {
  hit(c, n2 ? &n7 : &n8);
  judge(n8);
}

void in_a_frame_above(char c) { of_many(c, 0, 0, 0, 0, 0, 0, 0); } // VIOLATED

struct large {
  int t[8];
};

static void of_structures(char c, struct large s) {
  int *p = s.t + 3;
  hit(c, p);
  judge(s.t[3]);
}

void in_a_frame_of_structures(char c) { of_structures(c, (struct large){{0}}); } // VIOLATED

static struct large made(char c) {
  struct large s = {{0}};
  hit(c, &s.t[2]);
  return s;
}

void in_a_frame_by_a_result_in_memory(char c) { judge(made(c).t[2]); } // VIOLATED

void in_a_frame_without_a_name(char c) { // VIOLATED
  int *p = &(int){0};
  int *q = p;
  hit(c, q);
  judge(*p);
}

static void outer_of_two(char c, int n, int *outer) {
  int x = 0;
  if (n > 0) outer_of_two(c, n - 1, &x);
  else hit(c, outer);
  judge(x);
}

void in_a_frame_of_the_same_function(char c) { outer_of_two(c, 2, 0); } // VIOLATED

static void at_the_end(int *x) { judge(*x); }

void in_a_frame_at_its_end(char c) { // VIOLATED
  __attribute__((cleanup(at_the_end))) int x = 0;
  if (WRONG(c)) x = 1;
}

void in_a_frame_that_grows(char c) { // VIOLATED
  int x = 0, *p = &x;
  for (int i = 1; i < 3; i++) {
    int *table[i];
    table[i - 1] = p;
    if (WRONG(c)) *table[i - 1] = i;
  }
  judge(x);
}

static jmp_buf back_here;

void in_a_frame_after_a_jump(char c) { // VIOLATED
  volatile int x = 0, *p = &x;
  if (setjmp(back_here)) {
    judge(x);
    return;
  }
  if (WRONG(c)) *p = 1;
  longjmp(back_here, 1);
}

/* Nothing that debug information knows begins where it ends. */
__attribute__((section(".data.last"))) static int before_its_end = 5;

void static_by_its_end(char c) { // VIOLATED
  hit_before(c, &before_its_end + 1);
  judge(before_its_end == 1);
}

static int static_by_handler;

static void on_user_signal(int n) { static_by_handler = n != 0; }

void signal_to_itself(char c) { // VIOLATED
  signal(SIGUSR1, on_user_signal);
  if (WRONG(c)) pthread_kill(pthread_self(), SIGUSR1);
  judge(static_by_handler);
}

void locale_set(char c) { // VIOLATED
  if (WRONG(c)) setlocale(LC_ALL, "C.UTF-8");
  judge(MB_CUR_MAX > 1);
}

void locale_used(char c) { // VIOLATED
  locale_t other = newlocale(LC_ALL_MASK, "C.UTF-8", 0);
  if (WRONG(c)) uselocale(other);
  judge(nl_langinfo(CODESET)[0] == 'U');
}

void position_set(char c) { // VIOLATED
  FILE *f = fopen("/etc/passwd", "r");
  fpos_t first, second;
  if (!f || fgetpos(f, &first)) return;
  fseek(f, 8, SEEK_SET);
  fgetpos(f, &second);
  if (WRONG(c)) second = first;
  fsetpos(f, &second);
  judge(ftell(f) == 0);
  fclose(f);
}

#ifdef ASSEMBLY
__attribute__((noinline, optimize("O0"))) static void of_its_caller(char c) {
  int *p = __builtin_frame_address(1);
  for (int i = 1; i < 16 && WRONG(c); i++)
    if (p[-i] == 0x1234567) p[-i]++;
}

__attribute__((noinline, optimize("O0")))
void in_a_frame_of_its_caller(char c) { // VIOLATED, executable alone
  int x = 0x1234567;
  of_its_caller(c);
  judge(x != 0x1234567);
}

void in_a_frame_by_assembly(char c) { // VIOLATED, executable alone
  int x = 0, *p;
  __asm__("lea %1, %0" : "=r"(p) : "m"(x));
  hit(c, p);
  judge(x);
}
#endif

#ifdef UNDEFINED
void elsewhere(void (*)(void));

void undefined_callback(char c) { // INCOMPLETE, bitcode alone
  if (WRONG(c)) elsewhere(bad);
}
#endif

int main(int count, char **words) {
  good();
  if (count > 1) TRAP(words[1][0]);
  return 0;
}
