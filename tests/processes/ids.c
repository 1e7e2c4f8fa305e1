// The ids of processes are related.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  pid_t me = getpid();
  int status;
  pid_t child = fork();
  if (child == 0) _exit((getppid() == me) + 2 * (getpid() != me) + 4 * (c == 7) + 8 * (getpgrp() == getpgid(0)));
  waitpid(child, &status, 0);
  printf("%d %d %d\n", WEXITSTATUS(status), getpid() == me, child > 0 && child != me);
  return 0;
}
