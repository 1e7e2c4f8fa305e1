//@ inputs: 8
// `poll` that a timer interrupts fails with EINTR, also with `SA_RESTART`.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static void handler(int number) { (void)number; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  int p[2];
  if (pipe(p)) return 1;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, 0);
  struct itimerval timer = {{0, 0}, {0, 50000}};
  if (c & 1) setitimer(ITIMER_REAL, &timer, 0);
  struct pollfd one = {p[0], POLLIN, 7};
  int n = poll(&one, 1, c & 2 ? 10 : 100);
  printf("%d %d %d\n", n, n < 0 && errno == EINTR, one.revents);
  return 5;
}
