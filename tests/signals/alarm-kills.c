//@ inputs: 2
// An alarm that nobody handles ends a program that waits.
#include "input.h"
int main(void) {
  unsigned char c = input();
  alarm(1);
  if (c & 1) alarm(0);
  printf("waiting\n");
  sleep(2);
  printf("done\n");
  return 0;
}
