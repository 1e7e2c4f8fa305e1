//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow conversions
//@ args: --sym-stdin 2
// A difference that may be negative becomes a size.
#include <stddef.h>
#include <unistd.h>
int main(void) {
  signed char at[2];
  if (read(0, at, 2) != 2) return 2;
  int distance = at[1] - at[0];
#ifdef FIXED
  if (distance < 0) return 1;
#endif
  size_t size = distance;  //~ FAULT lossy-conversion: as `size_t`
  return size > 100;
}
