// Ignored signals do nothing, and those that are pending are forgotten when they become ignored.
#include <signal.h>
#include "input.h"
static void handler(int number) { printf("called %d\n", number); }
int main(void) {
  unsigned char c = input();
  void (*before)(int) = signal(SIGTERM, SIG_IGN);
  printf("%d %d\n", before == SIG_DFL, signal(SIGTERM, SIG_IGN) == SIG_IGN);
  raise(SIGTERM);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(SIGTERM);
  signal(SIGTERM, handler);
  if (c & 1) signal(SIGTERM, SIG_IGN), signal(SIGTERM, handler);
  if (c & 2) raise(SIGTERM);
  sigprocmask(SIG_UNBLOCK, &set, 0);
  return 1;
}
