//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// Bits are taken from the middle of a word; a field that reaches over its end shifts by a negative number.
#include <unistd.h>
int main(void) {
  unsigned char in[2];
  if (read(0, in, 2) != 2) return 2;
  int start = in[0] & 15, width = in[1] & 15, low = 16 - start - width;
#ifdef FIXED
  if (low < 0) return 1;
#endif
  unsigned field = 0xbeefu >> low;  //~ FAULT shift-too-far  //~ NOT x86_64 -O0: shifts of the CPU take their count modulo the width
  return (field & 3) == 3;
}
