// A handler of a signal that the program sends itself divides by its argument: a fault inside a handler.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int divisor = 1;
static void handler(int number) { printf("%d\n", 100 / divisor); }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  signal(SIGUSR1, handler);
  if (c == 'x') divisor = 0;
  raise(SIGUSR1);
  return 1;
}
