//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 4
// A square root by an instruction of the x87, as inline assembly.
#include <stdio.h>
static double root(double x) {
  __asm__("fsqrt" : "=t"(x) : "0"(x));
  return x;
}
static long double long_root(long double x) {
  __asm__("fsqrt" : "+t"(x));
  return x;
}
int main(int argc, char **argv) {
  int digit = argv[1][0] & 3;
  printf("%a %La\n", root(2.0 + digit), long_root(3.0L + digit));
  return root(digit * digit) == digit ? digit : 9;
}
