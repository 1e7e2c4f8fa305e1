// Blocked signals are pending, once each, and come in the kernel's order when they are let through.
#define _GNU_SOURCE
#include <signal.h>
#include "input.h"
static void handler(int number) { printf("%d\n", number); }
int main(void) {
  unsigned char c = input();
  sigset_t all, pending;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  int numbers[] = {SIGTERM, SIGUSR1, SIGHUP, SIGSEGV, SIGCHLD, SIGUSR1};
  for (int i = 0; i < 6; i++) {
    signal(numbers[i], handler);
    if (i & 1) raise(numbers[i]);
    else kill(getpid(), numbers[i]);
  }
  sigpending(&pending);
  for (int i = 1; i < 32; i++)
    if (sigismember(&pending, i)) printf("pending %d\n", i);
  if (c & 1) signal(SIGTERM, SIG_IGN);
  if (c & 2) signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &all, 0);
  sigpending(&pending);
  return sigisemptyset(&pending);
}
