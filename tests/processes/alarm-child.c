// A timer belongs to the process that set it.
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int status;
  if (c & 1) ualarm(50000, 0);
  if (fork() == 0) {
    if (c & 2) ualarm(20000, 0);
    usleep(30000);
    _exit(4);
  }
  if (c & 1) signal(SIGALRM, SIG_IGN);
  while (wait(&status) < 0);
  printf("%d %d\n", WIFSIGNALED(status), WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  return 0;
}
