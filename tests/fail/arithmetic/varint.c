//@ frontend: bitcode x86_64
//@ args: --sym-stdin 6
// A number in groups of seven bits has more groups than fit.
#include <stdint.h>
#include <unistd.h>
int main(void) {
  unsigned char in[6];
  if (read(0, in, sizeof in) != sizeof in) return 2;
  uint32_t value = 0;
  for (unsigned i = 0; i < sizeof in; i++) {
#ifdef FIXED
    if (i == 5) return 1;
#endif
    value |= (uint32_t)(in[i] & 0x7f) << 7 * i;  //~ FAULT shift-too-far  //~ NOT x86_64 -O0: shifts of the CPU take their count modulo the width
    if (!(in[i] & 0x80)) break;
  }
  return value == 300;
}
