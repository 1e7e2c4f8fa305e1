// The exit status of a child.
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  pid_t child = fork();
  if (child == 0) _exit(c & 7);
  int status = -1;
  pid_t got = wait(&status);
  printf("%d %d %d %d\n", got == child, WIFEXITED(status), WEXITSTATUS(status), WIFSIGNALED(status));
  return WEXITSTATUS(status) == 3;
}
