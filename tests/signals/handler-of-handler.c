// A handler that sets another handler for its own signal.
#include <signal.h>
#include "input.h"
static void second(int number) { printf("second %d\n", number); }
static void first(int number) {
  printf("first %d\n", number);
  signal(number, second);
}
int main(void) {
  unsigned char c = input();
  signal(SIGINT, first);
  for (int i = 0; i < (c & 3); i++) raise(SIGINT);
  if (c & 4) {
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
  }
  return 1;
}
