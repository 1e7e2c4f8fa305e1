// A child on a stack of its own writes into its parent's memory; so the C library says that a program is missing.
#include <errno.h>
#include <spawn.h>
#include "input.h"
extern char **environ;
int main(void) {
  unsigned char in = input();
  char *words[] = {"missing", 0};
  pid_t child;
  int result = posix_spawn(&child, "/nonexistent/missing", 0, 0, words, environ);
  printf("%d\n", result == ENOENT);
  return in & 7;
}
