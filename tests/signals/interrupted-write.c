//@ inputs: 4
// A write to a full pipe that a timer's signal interrupts.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static int p[2];
static char all[65536];
static volatile sig_atomic_t rings;
static void handler(int number) {
  rings++;
  read(p[0], all, sizeof all);
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  if (pipe(p)) return 1;
  struct sigaction action = {.sa_handler = handler, .sa_flags = c & 1 ? SA_RESTART : 0};
  sigaction(SIGALRM, &action, 0);
  if (write(p[1], all, sizeof all) != sizeof all) return 2;
  struct itimerval timer = {{0, 0}, {0, 100000}};
  setitimer(ITIMER_REAL, &timer, 0);
  long n = write(p[1], "x", 1);
  printf("%ld %d %d\n", n, n < 0 && errno == EINTR, (int)rings);
  return 0;
}
