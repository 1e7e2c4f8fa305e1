//@ inputs: 8
// `select` of pipes: ready, timed out, or interrupted by a timer's signal.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>
static void handler(int number) { (void)number; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  int p[2];
  if (pipe(p)) return 1;
  signal(SIGALRM, handler);
  struct itimerval timer = {{0, 0}, {0, 50000}};
  if (c & 1) setitimer(ITIMER_REAL, &timer, 0);
  if (c & 2) write(p[1], "x", 1);
  fd_set in, out;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(p[0], &in);
  if (c & 4) FD_SET(p[1], &out);
  struct timeval time = {0, 200000};
  int n = select(p[1] + 1, &in, &out, 0, &time);
  printf("%d %d %d %d\n", n, n < 0 && errno == EINTR, FD_ISSET(p[0], &in) != 0, FD_ISSET(p[1], &out) != 0);
  return 0;
}
