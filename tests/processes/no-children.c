// Errors of waiting.
#include <errno.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int status;
  int got = wait(&status);
  printf("%d %d\n", got, errno == ECHILD);
  errno = 0;
  pid_t child = fork();
  if (child == 0) _exit(c & 1);
  got = waitpid(child + 1, &status, 0);
  printf("%d %d\n", got, errno == ECHILD);
  errno = 0;
  printf("%d\n", waitpid(child, &status, 0) == child);
  got = waitpid(child, &status, 0);
  printf("%d %d\n", got, errno == ECHILD);
  errno = 0;
  got = waitpid(-1, &status, 77);
  printf("%d %d\n", got, errno == EINVAL);
  return WEXITSTATUS(status);
}
