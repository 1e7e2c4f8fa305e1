//@ frontend: bitcode x86_64
//@ args: --sym-arg 14
//@ options: --emit new
// A mail address is copied to a field. Each `<` takes a place for its `>`; a `>` that closes nothing gives a place that nobody took.
#include <stdlib.h>
static int copy_address(const char *from, char *to, int size) {
  int room = size - 1, depth = 0, n = 0;
  for (; *from; from++) {
    if (*from == '<') {
      depth++;
      room--;
    } else if (*from == '>') {
#ifdef FIXED
      if (depth == 0) return -1;
#endif
      depth--;
      room++;
    }
    if (n >= room) return -1;
    to[n++] = *from;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
  }
  while (depth-- > 0) to[n++] = '>';
  to[n] = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
  return n;
}
int main(int argc, char **argv) {
  char *field = malloc(8);
  if (!field) return 3;
  int length = copy_address(argv[1], field, 8);
  free(field);
  return length < 0;
}
