// `sigwait`, `sigwaitinfo` and `sigtimedwait` take pending signals, and call no handler.
#include <errno.h>
#include <signal.h>
#include <time.h>
#include "input.h"
static void handler(int number) { printf("called %d\n", number); }
int main(void) {
  unsigned char c = input();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  signal(SIGUSR1, handler);
  sigprocmask(SIG_BLOCK, &set, 0);
  struct timespec none = {0, 0}, little = {0, 1000};
  int result = sigtimedwait(&set, 0, c & 4 ? &little : &none);
  printf("%d %d\n", result, errno == EAGAIN);
  raise(SIGUSR2);
  if (c & 1) raise(SIGUSR1);
  int number = 0;
  siginfo_t info;
  if (c & 2) {
    printf("%d\n", sigwait(&set, &number));
  } else {
    number = sigwaitinfo(&set, &info);
    printf("%d %d\n", info.si_signo == number, info.si_code == SI_TKILL || info.si_code == SI_USER);
  }
  printf("got %d\n", number);
  sigprocmask(SIG_UNBLOCK, &set, 0);
  return 1;
}
