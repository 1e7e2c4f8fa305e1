//@ inputs: 8
// A write to a full pipe that a timer's signal interrupts.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static int p[2];
static char all[2 * 65536];
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
  // Filled, or filled in part by what is too long.
  if (c & 2 && write(p[1], all, 65536) != 65536) return 2;
  struct itimerval timer = {{0, 0}, {0, 100000}};
  setitimer(ITIMER_REAL, &timer, 0);
  long n = write(p[1], all, c & 2 ? 1 : sizeof all);
  printf("%ld %d %d\n", n, n < 0 && errno == EINTR, (int)rings);
  errno = 0;
  return c & 4 ? wait(0) == -1 && errno == ECHILD : 3;
}
