// `sa_mask` holds while the handler runs, and the mask is as before when it has returned.
#include <signal.h>
#include "input.h"
static void handler(int number) {
  printf("begin %d\n", number);
  if (number == SIGUSR1) raise(SIGUSR2);
  sigset_t now;
  sigprocmask(SIG_BLOCK, 0, &now);
  printf("end %d, blocked %d %d\n", number, sigismember(&now, SIGUSR1), sigismember(&now, SIGUSR2));
}
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR2, &action, 0);
  if (c & 1) sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  sigset_t now;
  sigprocmask(SIG_BLOCK, 0, &now);
  return sigismember(&now, SIGUSR1) + 2 * sigismember(&now, SIGUSR2);
}
