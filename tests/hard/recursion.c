// A recursion that is as deep as the stack allows, with a decision at each level.
#include "wryneck.h"
static unsigned char v[64];
static int down(unsigned n) {
  volatile char room[256];
  room[n % 256] = (char)n;
  if (v[n % 64] == (unsigned char)(n * 7)) return room[n % 256] + 1;
  return down(n + 1) + room[n % 256];
}
int main(void) {
  klee_make_symbolic(v, sizeof v, "v");
  return down(0);
}
