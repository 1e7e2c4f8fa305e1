//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// Room for quotes around a text, none for those that are doubled within.
#include <stdlib.h>
#include <string.h>
static char *out;
static void put(char c) {
  *out++ = c;  //~ FAULT out-of-bounds-write: write of 1 byte
}
int main(int argc, char **argv) {
  const char *text = argv[1];
  unsigned size = strlen(text) + 3;
#ifdef FIXED
  for (const char *p = text; *p; p++) size += *p == '"';
#endif
  char *quoted = out = malloc(size);
  if (!quoted) return 3;
  put('"');
  for (; *text; text++) {
    if (*text == '"') put('"');
    put(*text);
  }
  put('"');
  put('\0');
  free(quoted);
  return 0;
}
