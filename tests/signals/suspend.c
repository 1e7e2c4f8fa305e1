// `sigsuspend` lets a pending signal through, fails with EINTR, and restores the mask.
#include <errno.h>
#include <signal.h>
#include "input.h"
static void handler(int number) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, 0, &now);
  printf("%d, blocked %d %d\n", number, sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2));
}
int main(void) {
  unsigned char c = input();
  sigset_t both, none, now;
  sigemptyset(&none);
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  signal(SIGUSR1, handler);
  signal(SIGUSR2, handler);
  sigprocmask(SIG_BLOCK, &both, 0);
  raise(SIGUSR2);
  if (c & 1) raise(SIGUSR1);
  int result = sigsuspend(&none);
  printf("%d %d\n", result, errno == EINTR);
  sigprocmask(SIG_BLOCK, 0, &now);
  return sigismember(&now, SIGUSR1) + 2 * sigismember(&now, SIGUSR2);
}
