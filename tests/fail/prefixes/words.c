//@ frontend: bitcode x86_64
//@ args: --sym-arg 10
//@ options: --emit new
// A command line is split into at most four words; the null pointer behind them has no place.
#include <stddef.h>
static char *words[4];
static int split(char *line) {
  int n = 0;
  while (n < 4) {
    while (*line == ' ') line++;
    if (!*line) break;
    words[n++] = line;
    while (*line && *line != ' ') line++;
    if (!*line) break;
    *line++ = '\0';
  }
#ifdef FIXED
  if (n == 4) return -1;
#endif
  words[n] = NULL;  //~ FAULT out-of-bounds-write: write of 8 bytes at offset 32
  return n;
}
int main(int argc, char **argv) {
  int n = split(argv[1]);
  if (n < 1) return 2;
  return words[0][0] != 'x';
}
