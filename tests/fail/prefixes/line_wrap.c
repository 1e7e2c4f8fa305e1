//@ frontend: bitcode x86_64
//@ args: --sym-arg 20
// Long lines are broken after eight letters by a line end of two bytes and a blank; the room is reckoned with two bytes.
#include <stdlib.h>
#include <string.h>
static char *wrap(const char *text) {
  unsigned length = strlen(text), column = 0, n = 0;
#ifdef FIXED
  char *out = malloc(length + length / 8 * 3 + 1);
#else
  char *out = malloc(length + length / 8 * 2 + 1);
#endif
  if (!out) exit(3);
  for (; *text; text++) {
    if (column == 8) {
      out[n++] = '\r';
      out[n++] = '\n';
      out[n++] = ' ';
      column = 0;
    }
    out[n++] = *text;  //~ FAULT out-of-bounds-write: write of 1 byte
    column++;
  }
  out[n] = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte
  return out;
}
int main(int argc, char **argv) {
  char *out = wrap(argv[1]);
  int empty = out[0] == '\0';
  free(out);
  return empty;
}
