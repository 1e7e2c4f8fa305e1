// A queued signal to another process carries a value.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input() & 3;
  pid_t me = getpid();
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (fork() == 0) {
    union sigval value = {.sival_int = 70 + c};
    sigqueue(me, SIGRTMIN, value);
    _exit(0);
  }
  sigwaitinfo(&set, &info);
  wait(NULL);
  printf("%d %d\n", info.si_code == SI_QUEUE, info.si_value.sival_int);
  return 0;
}
