// `SA_RESETHAND`: the second signal acts by default.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handler(int number) {
  struct sigaction now;
  sigaction(number, 0, &now);
  printf("once %d, default now %d\n", number, now.sa_handler == SIG_DFL);
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESETHAND};
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  if (c == 'x') raise(SIGUSR1);
  return 3;
}
