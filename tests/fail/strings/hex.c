//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// Digits in base 16 are looked up in a table that ends with the small letters.
#include <unistd.h>
static const signed char digits['f' - '0' + 1] = {
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ['a' - '0'] = 10, 11, 12, 13, 14, 15,
};
static int digit(unsigned char c) {
  if (c < '0') return -1;
#ifdef FIXED
  if (c > 'f') return -1;
#endif
  return digits[c - '0'];  //~ FAULT out-of-bounds-read: read of 1 byte
}
int main(void) {
  unsigned char in[3];
  if (read(0, in, 3) != 3 || in[0] != '%') return 1;
  int high = digit(in[1]), low = digit(in[2]);
  return high < 0 || low < 0;
}
