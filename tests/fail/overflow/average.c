//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow signed
//@ args: --sym-stdin 8
// The middle of two positions, by their sum.
#include <unistd.h>
int main(void) {
  int low, high;
  if (read(0, &low, 4) != 4 || read(0, &high, 4) != 4) return 2;
  if (low < 0 || high < low) return 1;
#ifdef FIXED
  int middle = low + (high - low) / 2;
#else
  int middle = (low + high) / 2;  //~ FAULT signed-overflow: overflows `int`
#endif
  return middle >= low;
}
