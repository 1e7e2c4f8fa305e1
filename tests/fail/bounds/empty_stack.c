//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A calculator in postfix form pops from an empty stack.
#include <stdlib.h>
int main(int argc, char **argv) {
  int *values = malloc(8 * sizeof *values), depth = 0;
  if (!values) return 3;
  for (const char *p = argv[1]; *p; p++) {
    if (*p == '1') {
      values[depth++] = 1;
    } else if (*p == '+') {
#ifdef FIXED
      if (depth < 2) return 1;
#endif
      depth--;
      values[depth - 1] += 1;  //~ FAULT out-of-bounds-read: read of 4 bytes at offset -
    } else {
      break;
    }
  }
  free(values);
  return 0;
}
