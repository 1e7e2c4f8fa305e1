// Children that nobody waits for: SIGCHLD ignored.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  if (c & 1) signal(SIGCHLD, SIG_IGN);
  if (fork() == 0) _exit(3);
  int status = 0;
  int got = wait(&status);
  printf("%d %d\n", got > 0, got < 0 ? errno == ECHILD : WEXITSTATUS(status));
  return 0;
}
