//@ frontend: bitcode x86_64
//@ args: --sym-stdin 9
// A calculator refuses to divide by 0, and forgets the other quotient that has no value.
#include <stdint.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  unsigned char in[9];
  int32_t a, b;
  if (read(0, in, sizeof in) != sizeof in || in[4] != '/') return 2;
  memcpy(&a, in, 4);
  memcpy(&b, in + 5, 4);
  if (b == 0 || a > -2147483000) return 1;
#ifdef FIXED
  if (b == -1) return 1;
#endif
  return a / b == 3;  //~ FAULT division-overflow
}
