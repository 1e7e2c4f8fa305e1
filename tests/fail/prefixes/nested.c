//@ frontend: bitcode x86_64
//@ args: --sym-stdin 6
//@ options: --emit new
// Brackets are kept on a stack of four levels; the fifth is put there before it is refused.
#include <unistd.h>
static char stack[4];
static int balanced(const char *at, const char *end) {
  int depth = 0;
  for (; at < end; at++) {
    switch (*at) {
    case '[':
    case '{':
#ifdef FIXED
      if (depth == sizeof stack) return 0;
#else
      if (depth > (int)sizeof stack) return 0;
#endif
      stack[depth++] = *at + 2;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 4  //~ NOT x86_64 -O2: in optimised code no address tells its variable
      break;
    case ']':
    case '}':
      if (depth == 0 || stack[--depth] != *at) return 0;
      break;
    default: return 0;
    }
  }
  return depth == 0;
}
int main(void) {
  char text[6];
  if (read(0, text, sizeof text) != sizeof text) return 2;
  return !balanced(text, text + sizeof text);
}
