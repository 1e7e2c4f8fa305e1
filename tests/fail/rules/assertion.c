//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --rule assertion
#include <assert.h>
int main(int argc, char **argv) {
  int digit = argv[1][0] - '0';
#ifdef FIXED
  if (digit < 0 || digit > 9) return 1;
#endif
  volatile int most = 75; // else compilers leave the twin's assertion out, and the rule has no event
  assert(digit >= 0 && digit < most);  //~ VIOLATION assertion: assertion fails //~ FAULT assertion-failed
  return 0;
}
