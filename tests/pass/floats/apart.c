//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
//@ paths: 102
// A number whose bits are taken apart, as programs do that print numbers by themselves, has a path for each value.
#include <stdint.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  unsigned char text[2];
  uint64_t bits;
  if (read(0, text, 2) != 2)
    return 99;
  unsigned high = text[0] - '0', low = text[1] - '0';
  if (high > 9)
    return 98;
  if (low > 9)
    return 97;
  double x = (10 * high + low) * 0.375 + 1;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (bits >> 52) - 1023;
  uint64_t mantissa = bits & 0xfffffffffffff;
  return exponent + (mantissa >> 46);
}
