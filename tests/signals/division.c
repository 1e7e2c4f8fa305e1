// A handler of a signal that the program sends itself divides by its argument: a fault inside a handler.
#include <signal.h>
#include "input.h"
static volatile int divisor = 1;
static void handler(int number) { printf("%d\n", 100 / divisor); }
int main(void) {
  unsigned char c = input();
  signal(SIGUSR1, handler);
  if (c == 'x') divisor = 0;
  raise(SIGUSR1);
  return 1;
}
