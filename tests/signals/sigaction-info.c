// What a handler with `SA_SIGINFO` is told: the signal, who sent it, and the value of `sigqueue`.
#include <signal.h>
#include "input.h"
static void handler(int number, siginfo_t *info, void *context) {
  printf("%d %d by %s, mine %d, context %d\n", number, info->si_signo,
         info->si_code == SI_USER ? "user" : info->si_code == SI_TKILL ? "tkill" : info->si_code == SI_QUEUE ? "queue" : "other",
         info->si_pid == getpid() && info->si_uid == getuid(), context != 0);
  if (info->si_code == SI_QUEUE) printf("value %d\n", info->si_value.sival_int);
}
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = handler;
  sigaction(SIGUSR2, &action, 0);
  switch (c & 3) {
  case 0: raise(SIGUSR2); break;
  case 1: kill(getpid(), SIGUSR2); break;
  case 2: sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 4711}); break;
  }
  return c & 3;
}
