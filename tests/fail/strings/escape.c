//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// A backslash at the end of a text hides its terminator.
#include <stdlib.h>
#include <string.h>
static unsigned width(const char *p) {
  unsigned n = 0;
  for (; *p; p++, n++) {  //~ FAULT out-of-bounds-read: read of 1 byte
#ifdef FIXED
    if (*p == '\\' && p[1]) p++;
#else
    if (*p == '\\') p++;
#endif
  }
  return n;
}
int main(int argc, char **argv) {
  char *text = strdup(argv[1]);
  if (!text) return 3;
  unsigned n = width(text);
  free(text);
  return n == 1;
}
