// Real-time signals are queued with their values; others are pending once.
#include <signal.h>
#include "input.h"
static void handler(int number, siginfo_t *info, void *context) { printf("%d %d\n", number - SIGRTMIN, info->si_value.sival_int); }
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = handler;
  sigfillset(&action.sa_mask);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  for (int i = 0; i < 3; i++) sigaction(SIGRTMIN + i, &action, 0);
  for (int i = 0; i < 4; i++) sigqueue(getpid(), SIGRTMIN + (c + i) % 3, (union sigval){.sival_int = i});
  sigprocmask(SIG_UNBLOCK, &all, 0);
  return 0;
}
