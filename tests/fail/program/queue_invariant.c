//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A queue made of two stacks states its invariant, and moves one stack onto the other without emptying it.
#include <assert.h>
static int in, out, size;
static int take(void) {
  if (size == 0) return 0;
  if (out == 0) {
    out = in;
#ifdef FIXED
    in = 0;
#endif
  }
  out--, size--;
  return 1;
}
int main(int argc, char **argv) {
  for (const char *p = argv[1]; *p; p++) {
    if (*p == 'p') in++, size++;
    else if (*p != 't' || !take()) return 1;
    assert(in + out == size);  //~ FAULT assertion-failed: in + out == size
  }
  return 0;
}
