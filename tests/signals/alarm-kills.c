//@ inputs: 2
// An alarm that nobody handles ends a program that waits.
#include <stdio.h>
#include <unistd.h>
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  alarm(1);
  if (c & 1) alarm(0);
  printf("waiting\n");
  sleep(2);
  printf("done\n");
  return 0;
}
