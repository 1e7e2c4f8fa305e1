//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A line has more fields than the array.
#include <string.h>
enum { MOST = 3 };
static char *field[MOST];
static unsigned split(char *line) {
  unsigned n = 0;
  field[n++] = line;
  for (; *line; line++) {
    if (*line != ',') continue;
    *line = '\0';
#ifdef FIXED
    if (n == MOST) break;
#endif
    field[n++] = line + 1;  //~ FAULT out-of-bounds-write: write of 8 bytes at offset 24 of `field`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  }
  return n;
}
int main(int argc, char **argv) { return split(argv[1]) == 3; }
