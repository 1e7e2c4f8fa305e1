//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow conversions
//@ args: --sym-stdin 1
// A share of a whole that may be tiny is more than an integer holds.
#include <unistd.h>
int main(void) {
  unsigned char whole;
  if (read(0, &whole, 1) != 1) return 2;
  double share = 1e9 * (whole & 3);
#ifdef FIXED
  if (share > 2e9) return 1;
#endif
  return (int)share > 9;  //~ FAULT lossy-conversion: 3000000000 (`double`) is out of the range of `int`
}
