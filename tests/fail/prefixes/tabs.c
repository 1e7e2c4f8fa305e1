//@ frontend: bitcode x86_64
//@ args: --sym-arg 8
// A tab is filled up with blanks to the next column of eight; the line's end is checked before the first of them.
#include <stdlib.h>
static int expand(const char *in, char *line, int size) {
  int column = 0;
  for (; *in; in++) {
    if (column >= size - 1) return -1;
    if (*in != '\t') {
      line[column++] = *in;
      continue;
    }
#ifdef FIXED
    if ((column / 8 + 1) * 8 > size - 1) return -1;
#endif
    do line[column++] = ' ';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 20
    while (column % 8);
  }
  line[column] = '\0';
  return column;
}
int main(int argc, char **argv) {
  char *line = malloc(20);
  if (!line) return 3;
  int width = expand(argv[1], line, 20);
  free(line);
  return width < 0;
}
