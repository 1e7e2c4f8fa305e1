// A symbolic object of 4 MB, or of another size, that is read at many places.
#include "wryneck.h"
#ifndef SIZE
#define SIZE (4 << 20)
#endif
static unsigned char v[SIZE];
int main(void) {
  klee_make_symbolic(v, sizeof v, "v");
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof v; i += 4096) sum += v[i];
  return sum == 12345;
}
