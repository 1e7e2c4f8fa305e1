// SIGCONT takes back pending stops, a stop takes back a pending SIGCONT, and SIGCONT can be handled.
#include <signal.h>
#include "input.h"
static void handler(int number) { printf("handled %d\n", number); }
int main(void) {
  unsigned char c = input();
  signal(SIGCONT, handler);
  signal(SIGTSTP, handler);
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGCONT);
  sigaddset(&set, SIGTSTP);
  sigprocmask(SIG_BLOCK, &set, 0);
  raise(c & 1 ? SIGTSTP : SIGCONT);
  raise(c & 2 ? SIGTSTP : SIGCONT);
  sigpending(&pending);
  printf("%d %d\n", sigismember(&pending, SIGCONT), sigismember(&pending, SIGTSTP));
  sigprocmask(SIG_UNBLOCK, &set, 0);
  return 0;
}
