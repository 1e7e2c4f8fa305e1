//@ rule: memory-leak
/* Functions of the C library that the program hands over for others to call: those calls are the program's. */
#include <search.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  return *(const char *)a - *(const char *)b;
}

int freed_by_tdestroy(char c) {
  void *root = 0;
  char *key = malloc(1);
  *key = c;
  if (!tsearch(key, &root, compare)) return 1;
  tdestroy(root, free);
  return 0;
}

int freed_by_tdestroy_and_again(char c) {
  void *root = 0;
  char *key = malloc(1);
  *key = c;
  if (!tsearch(key, &root, compare)) return 1;
  tdestroy(root, free);
  if (c == 'x') free(key);  //~ VIOLATION memory-leak: is freed again //~ FAULT double-free
  return 0;
}
