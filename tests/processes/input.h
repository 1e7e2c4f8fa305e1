/* What most programs begin with: one byte of input, and output that is written at once. */
#include <stdio.h>
#include <unistd.h>

static unsigned char input(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  return c;
}
