// `SA_RESETHAND`: the second signal acts by default.
#include <signal.h>
#include "input.h"
static void handler(int number) {
  struct sigaction now;
  sigaction(number, 0, &now);
  printf("once %d, default now %d\n", number, now.sa_handler == SIG_DFL);
}
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESETHAND};
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  if (c == 'x') raise(SIGUSR1);
  return 3;
}
