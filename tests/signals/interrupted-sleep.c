//@ inputs: 4
// A sleep that a timer interrupts says what was left; `SA_RESTART` changes nothing.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static void handler(int number) { (void)number; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  struct sigaction action = {.sa_handler = handler, .sa_flags = c & 1 ? SA_RESTART : 0};
  sigaction(SIGALRM, &action, 0);
  struct itimerval timer = {{0, 0}, {0, 500000}};
  setitimer(ITIMER_REAL, &timer, 0);
  if (c & 2) {
    printf("left %u\n", sleep(5));
  } else {
    struct timespec time = {3, 200000000}, left = {0};
    int result = nanosleep(&time, &left);
    printf("%d %d, left %ld and more %d\n", result, errno == EINTR, (long)left.tv_sec, left.tv_nsec > 300000000);
  }
  return 4;
}
