//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --leaks
/* Two objects that point to each other are reached from nowhere else. */
#include <stdlib.h>
struct half { struct half *other; char data[24]; };
static void pair(int close) {
  struct half *a = malloc(sizeof *a), *b = malloc(sizeof *b);  //~ FAULT memory-leak: 32 bytes  //~ NOT x86_64 -O0: a word below the stack pointer still leads there
  a->other = b;
  b->other = close ? a : NULL;
  free(close ? NULL : b);
#ifdef FIXED
  if (close) free(b);
  free(a);
#else
  if (!close) free(a);
#endif
}
int main(int argc, char **argv) {
  pair(argv[1][0] == 'r');
  return 0;
}
