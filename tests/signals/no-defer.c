// `SA_NODEFER`: a signal may interrupt its own handler; without it, it waits until the handler has returned.
#include <signal.h>
#include "input.h"
static volatile int depth, calls;
static void handler(int number) {
  depth++;
  printf("begin at depth %d\n", depth);
  if (calls++ < 2) raise(number);
  printf("end at depth %d\n", depth);
  depth--;
}
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_handler = handler, .sa_flags = c & 1 ? SA_NODEFER : 0};
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  return calls;
}
