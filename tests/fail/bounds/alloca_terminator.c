//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A copy on the stack is rounded up to whole words, which leaves no room for its terminator after some lengths.
#include <alloca.h>
#include <string.h>
static int reversed(const char *text) {
  unsigned n = strlen(text);
#ifdef FIXED
  char *copy = alloca(n + 1);
#else
  char *copy = alloca((n + 3) & ~3u);
#endif
  for (unsigned i = 0; i < n; i++) copy[i] = text[n - 1 - i];
  copy[n] = 0;  //~ FAULT out-of-bounds-write: write of 1 byte  //~ NOT x86_64: what is allocated on the stack at run time has no bounds in machine code
  return strcmp(copy, text) == 0;
}
int main(int argc, char **argv) { return reversed(argv[1]); }
