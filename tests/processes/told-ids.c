// clone tells the child's id to both.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "input.h"
static int in_parent, in_child;
int main(void) {
  unsigned char c = input();
  int status;
  long flags = SIGCHLD | (c & 1 ? CLONE_PARENT_SETTID : 0) | (c & 2 ? CLONE_CHILD_SETTID : 0);
  long child = syscall(SYS_clone, flags, 0, &in_parent, &in_child, 0);
  if (child == 0) _exit((in_child == getpid()) + 2 * (in_child == 0) + 4 * (in_parent == 0));
  waitpid(child, &status, 0);
  printf("%d %d %d\n", in_parent == child, in_child, WEXITSTATUS(status) & 3);
  return 0;
}
