//@ inputs: 16
// `pselect` and `ppoll` let a pending signal through while they wait, and restore the mask.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <time.h>
#include "input.h"
static void handler(int number) { printf("called %d\n", number); }
int main(void) {
  unsigned char c = input();
  int p[2];
  if (pipe(p)) return 1;
  if (c & 1) write(p[1], "x", 1);
  sigset_t blocked, none, now;
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  signal(SIGUSR1, handler);
  sigprocmask(SIG_BLOCK, &blocked, 0);
  if (c & 2) raise(SIGUSR1);
  struct timespec time = {0, 50000000};
  int n;
  if (c & 4) {
    struct pollfd one = {p[0], POLLIN, 0};
    n = ppoll(&one, 1, &time, c & 8 ? 0 : &none);
  } else {
    fd_set in;
    FD_ZERO(&in);
    FD_SET(p[0], &in);
    n = pselect(p[0] + 1, &in, 0, 0, &time, c & 8 ? 0 : &none);
  }
  printf("%d %d\n", n, n < 0 && errno == EINTR);
  sigprocmask(0, 0, &now);
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&now, SIGUSR1) + 2 * sigismember(&pending, SIGUSR1);
}
