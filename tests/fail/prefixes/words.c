//@ frontend: bitcode x86_64
//@ args: --sym-arg 5
//@ options: --emit new
// A command line is split into at most three words; the null pointer behind them has no place.
#include <stddef.h>
static char *words[3];
static int split(char *line) {
  int n = 0;
  while (n < 3) {
    while (*line == ' ') line++;
    if (!*line) break;
    words[n++] = line;
    while (*line && *line != ' ') line++;
    if (!*line) break;
    *line++ = '\0';
  }
#ifdef FIXED
  if (n == 3) return -1;
#endif
  words[n] = NULL;  //~ FAULT out-of-bounds-write: write of 8 bytes at offset 24  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  return n;
}
int main(int argc, char **argv) {
  int n = split(argv[1]);
  if (n < 1) return 2;
  return words[0][0] != 'x';
}
