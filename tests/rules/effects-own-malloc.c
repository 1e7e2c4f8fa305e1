//@ rule: assertion
/* The program's own allocator, which functions of the C library call. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(16) char pool[1 << 20];
static size_t used;
static int calls;

void *malloc(size_t n) {
  calls++;
  void *p = pool + used;
  used += (n + 15) / 16 * 16;
  return p;
}
void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
void *realloc(void *p, size_t n) { return malloc(n); }
void free(void *p) {}

int opened(char c) {
  int before = calls;
  if (c == 'x') fopen("/etc/passwd", "r");
  assert(calls == before);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int read_a_line(char c) {
  char *line = 0;
  size_t n = 0;
  FILE *f = fopen("/etc/passwd", "r");
  int before = calls;
  if (f && c == 'x') getline(&line, &n, f);
  assert(calls == before);  //~ VIOLATION assertion: fails //~ FAULT assertion-failed
  return 0;
}

int printed(char c) {
  int before = calls;
  if (c == 'x') printf("nothing is allocated");
  assert(calls == before);
  return 0;
}
