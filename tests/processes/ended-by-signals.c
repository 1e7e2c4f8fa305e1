// Children that are ended by themselves and by others.
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input() & 3;
  int status, ready[2];
  char x;
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  pipe(ready);
  if (c == 3) {
    signal(SIGCHLD, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
  }
  pid_t child = fork();
  if (child == 0) {
    if (c == 0) raise(SIGKILL);
    if (c == 3) _exit(0);
    write(ready[1], "r", 1);
    for (;;) pause();
  }
  if (c == 1 || c == 2) {
    read(ready[0], &x, 1);
    kill(child, c == 1 ? SIGABRT : SIGHUP);
  }
  int got = wait(&status);
  sigpending(&pending);
  printf("%d %d %d\n", got > 0, got > 0 ? WTERMSIG(status) : 0, sigismember(&pending, SIGCHLD));
  return 0;
}
