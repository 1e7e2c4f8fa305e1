//@ frontend: bitcode x86_64
//@ args: --sym-stdin 6
// A line is read as `gets` did: without an end of the buffer.
#include <stdio.h>
static char *line(char *buffer, unsigned size) {
  unsigned used = 0;
  int c;
  while ((c = getchar()) != EOF && c != '\n') {
#ifdef FIXED
    if (used + 1 == size) break;
#endif
    buffer[used++] = c;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 5  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  }
  buffer[used] = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 5  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  return c == EOF && used == 0 ? NULL : buffer;
}
int main(void) {
  char command[5];
  if (!line(command, sizeof command)) return 2;
  return command[0] == 'q' ? 1 : 0;
}
