//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 4
// Angles, logarithms and powers by instructions of the x87, as inline assembly.
#include <stdio.h>
static double angle(double y, double x) {
  __asm__("fpatan" : "=t"(x) : "0"(x), "u"(y) : "st(1)");
  return x;
}
static long double logarithm(long double x, long double times) {
  __asm__("fyl2x" : "+t"(x) : "u"(times) : "st(1)");
  return x;
}
static long double one_more(long double x, long double times) {
  __asm__("fyl2xp1" : "+t"(x) : "u"(times) : "st(1)");
  return x;
}
#define FUNCTION(name)              \
  static long double name(long double x) { \
    __asm__(#name : "+t"(x));       \
    return x;                       \
  }
FUNCTION(fsin)
FUNCTION(fcos)
FUNCTION(f2xm1)
FUNCTION(frndint)
int main(int argc, char **argv) {
  int digit = argv[1][0] & 3;
  printf("%a %La %La\n", angle(digit, 2.0), logarithm(3.0L + digit, 2.5L), one_more(digit / 16.0L, 3.0L));
  printf("%La %La %La %La\n", fsin(digit), fcos(digit), f2xm1(digit / 8.0L), frndint(digit + 0.5L));
  return digit;
}
