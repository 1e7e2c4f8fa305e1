//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A number so large that one more is the same.
#include <unistd.h>

int main(void) {
  float f;
  if (read(0, &f, 4) != 4 || !(f >= 0 && f < 1e9f))
    return 1;
  float next = f + 1;
  char text[16];
#ifdef FIXED
  text[next <= f ? 15 : 3] = 1;
#else
  text[next <= f ? 16 : 3] = 1;  //~ FAULT out-of-bounds-write
#endif
  return 0;
}
