//@ inputs: 4
// `sigwait` for a timer's signal, and `sigtimedwait` whose time comes first.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  sigprocmask(SIG_BLOCK, &set, 0);
  struct itimerval timer = {{0, 0}, {0, 200000}};
  setitimer(ITIMER_REAL, &timer, 0);
  struct timespec time = {0, c & 1 ? 20000000 : 900000000};
  siginfo_t info;
  int number = sigtimedwait(&set, &info, &time);
  printf("%d %d\n", number, number < 0 && errno == EAGAIN);
  if (number > 0) printf("by the kernel %d\n", info.si_code == SI_KERNEL);
  return 0;
}
