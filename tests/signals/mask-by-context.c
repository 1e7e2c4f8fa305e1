// A handler that changes the mask to which its return goes back.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>
static unsigned char c;
static void handler(int number, siginfo_t *info, void *context) {
  ucontext_t *interrupted = context;
  if (c & 1) sigaddset(&interrupted->uc_sigmask, SIGTERM);
}
int main(void) {
  read(0, &c, 1);
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = handler;
  sigaction(SIGINT, &action, 0);
  raise(SIGINT);
  sigset_t now;
  sigprocmask(0, 0, &now);
  printf("%d %d\n", sigismember(&now, SIGTERM), sigismember(&now, SIGINT));
  return 0;
}
