// clone with a stack of its own.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
static int begin(void *word) { return *(unsigned char *)word + 1; }
int main(void) {
  unsigned char c = input() & 15;
  char *stack = malloc(65536);
  int status;
  pid_t child = clone(begin, stack + 65536, SIGCHLD, &c);
  if (waitpid(child, &status, 0) != child) return 100;
  printf("%d\n", WEXITSTATUS(status));
  free(stack);
  return 0;
}
