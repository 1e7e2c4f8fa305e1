// SIGKILL and SIGSTOP cannot be blocked or handled.
#include <errno.h>
#include <signal.h>
#include "input.h"
static void handler(int number) { (void)number; }
int main(void) {
  unsigned char c = input();
  sigset_t all, now;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, 0);
  sigprocmask(SIG_BLOCK, 0, &now);
  printf("%d %d %d\n", sigismember(&now, SIGKILL), sigismember(&now, SIGSTOP), sigismember(&now, SIGTERM));
  void (*before)(int) = signal(c & 1 ? SIGKILL : SIGSTOP, handler);
  printf("%d %d\n", before == SIG_ERR, errno == EINVAL);
  struct sigaction old;
  int asked = sigaction(c & 1 ? SIGKILL : SIGSTOP, 0, &old);
  printf("%d %d\n", asked, old.sa_handler == SIG_DFL);
  if (c & 2) raise(SIGKILL);
  return 6;
}
