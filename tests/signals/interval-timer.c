//@ inputs: 4
// `setitimer`: once, again and again, and cancelled.
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t count;
static void handler(int number) { count++; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGALRM, handler);
  struct itimerval timer = {{0, c & 1 ? 20000 : 0}, {0, 20000}}, old;
  setitimer(ITIMER_REAL, &timer, 0);
  pause();
  if (c & 1) pause(), pause();
  struct itimerval off = {0};
  setitimer(ITIMER_REAL, &off, &old);
  printf("%d %ld\n", (int)count, (long)old.it_interval.tv_usec);
  return count;
}
