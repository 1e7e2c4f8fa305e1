//@ inputs: 4
// A read that waits for ever is interrupted, and made again with `SA_RESTART`.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static int p[2];
static void handler(int number) { write(p[1], "x", 1); }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  if (pipe(p)) return 1;
  struct sigaction action = {.sa_handler = handler, .sa_flags = c & 1 ? SA_RESTART : 0};
  sigaction(SIGALRM, &action, 0);
  alarm(1);
  char byte = 0;
  long n = read(p[0], &byte, 1);
  printf("%ld %d %d\n", n, n < 0 && errno == EINTR, byte);
  return 3;
}
