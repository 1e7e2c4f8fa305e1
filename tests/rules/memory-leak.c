//@ rule: memory-leak
/* Memory that is never freed or freed twice, and such as is not: realloc's four cases, buffers of getline, what a function may allocate. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
static const size_t too_much = (size_t)1 << 40;

int never_freed(void) {
  char *p = malloc(4);  //~ VIOLATION memory-leak: memory from `malloc` is never freed
  return p == 0;
}

int left_on_an_error(char c) {
  char *p = calloc(2, 4);  //~ VIOLATION memory-leak: memory from `calloc` is never freed
  if (c == 'e') return 1;
  free(p);
  return 0;
}

int left_by_exit(char c) {
  char *p = strdup("abc");  //~ VIOLATION memory-leak: memory from `strdup` is never freed
  if (c == 'e') exit(1);
  free(p);
  return 0;
}

int realloc_of_nothing_allocates(void) {
  char *p = realloc(0, 4);  //~ VIOLATION memory-leak: memory from `realloc` is never freed
  return p == 0;
}

int realloc_moves(void) {
  char *p = malloc(4);
  p = realloc(p, 400);  //~ VIOLATION memory-leak: memory from `realloc` is never freed
  return p == 0;
}

int realloc_fails(char c) {
  char *p = malloc(4);  //~ VIOLATION memory-leak: memory from `malloc` is never freed
  char *q = realloc(p, c == 'b' ? too_much : 8);
  if (!q) return 1;
  free(q);
  return 0;
}

static int is_here(const struct dirent *entry) { return strcmp(entry->d_name, ".") == 0; }
static int is_nothing(const struct dirent *entry) { return entry == 0; }

int list_of_entries(char c) {
  struct dirent **list;
  int count = scandir(".", &list, is_here, alphasort);  //~ VIOLATION memory-leak: memory from `scandir` is never freed
  if (count >= 0 && c != 'e') free(list);
  return 0;
}

int list_of_no_entries(void) {
  struct dirent **list;
  free(malloc(1));
  scandir(".", &list, is_nothing, alphasort);
  return 0;
}

int buffer_of_getline(void) {
  char *line = 0;
  size_t size = 0;
  FILE *in = fopen("/etc/passwd", "r");
  if (!in) return 1;
  getline(&line, &size, in);  //~ VIOLATION memory-leak: memory from `getline` is never freed
  fclose(in);
  return 0;
}

int buffer_of_getline_at_the_end(void) {
  char *line = 0;
  size_t size = 0;
  FILE *in = fopen("/dev/null", "r");
  if (!in) return 1;
  // There is no line, but there is a buffer.
  int nothing = getline(&line, &size, in) < 0;  //~ VIOLATION memory-leak: memory from `getline` is never freed
  fclose(in);
  return nothing;
}

int of_asprintf(char c) {
  char *text;
  if (asprintf(&text, "%s", "abc") < 0) return 1;  //~ VIOLATION memory-leak: memory from `asprintf` is never freed
  if (c != 'k') free(text);
  return 0;
}

int of_realpath(char c) {
  char *name = realpath("/etc", 0);  //~ VIOLATION memory-leak: memory from `realpath` is never freed
  if (c != 'k') free(name);
  return 0;
}

int of_posix_memalign(char c) {
  void *p;
  if (posix_memalign(&p, 64, 64)) return 1;  //~ VIOLATION memory-leak: memory from `posix_memalign` is never freed
  if (c != 'k') free(p);
  return 0;
}

int one_element(unsigned char n) {
  char *all[3] = {0};
  for (int i = 0; i < 3; i++) all[i] = malloc(1);  //~ VIOLATION memory-leak: memory from `malloc` is never freed
  for (int i = 0; i < 3; i++)
    if (i != n) free(all[i]);
  return 0;
}

int freed_twice(char c) {
  char *p = malloc(4);
  free(p);
  if (c == 'a') free(p);  //~ VIOLATION memory-leak: memory is freed again //~ FAULT double-free
  return 0;
}

int grown_when_freed(char c) {
  char *p = malloc(4);
  free(p);
  if (c == 'a') p = realloc(p, 8);  //~ VIOLATION memory-leak: memory is used after it was freed //~ FAULT double-free
  return 0;
}

int freed(void) {
  char *p = malloc(4);
  free(p);
  return 0;
}

int freed_on_each_way(char c) {
  char *p = strdup("abc"), *q = 0;
  if (c == 'e') goto out;
  q = strndup(p, 2);
  if (q && q[0] == c) goto out;
out:
  free(q);
  free(p);
  return 0;
}

int all_cases_of_realloc(char c) {
  char *p = realloc(0, 4);
  char *q = realloc(p, c == 'b' ? too_much : 8);
  if (!q) {
    free(p);
    return 1;
  }
  // A C library may free it and give nothing, or give something of no size.
  q = realloc(q, 0);
  free(q);
  return 0;
}

int one_buffer_for_all_lines(void) {
  char *line = 0;
  size_t size = 0;
  FILE *in = fopen("/etc/passwd", "r");
  if (!in) return 1;
  for (int i = 0; i < 2 && getline(&line, &size, in) > 0; i++);
  free(line);
  fclose(in);
  return 0;
}

int own_buffer_for_getline(void) {
  size_t size = 1;
  char *line = malloc(size);
  FILE *in = fopen("/etc/passwd", "r");
  if (in) {
    getdelim(&line, &size, ':', in);
    fclose(in);
  }
  free(line);
  return 0;
}

int given_buffers_are_not_allocated(char c) {
  char here[PATH_MAX], there[PATH_MAX];
  char *name = getcwd(c ? here : 0, c ? sizeof here : 0);
  if (!c) free(name);
  realpath("/etc", there);
  return 0;
}

int list(unsigned char n) {
  struct cell {
    struct cell *next;
  } *first = 0;
  for (int i = 0; i < n && i < 3; i++) {
    struct cell *cell = malloc(sizeof *cell);
    cell->next = first;
    first = cell;
  }
  while (first) {
    struct cell *next = first->next;
    free(first);
    first = next;
  }
  return 0;
}

int nothing_is_freed_often(char c) {
  char *p = c ? malloc(2) : 0;
  free(p);
  free(0);
  return 0;
}

int written_and_freed(char c) {
  char *text = 0;
  if (asprintf(&text, "%d", c) >= 0) free(text);
  return 0;
}

static void *kept;
static void release(void) { free(kept); }
int freed_by_an_exit_handler(char c) {
  atexit(release);
  kept = malloc(4);
  if (c == 'e') exit(1);
  return 0;
}
