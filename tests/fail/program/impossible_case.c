//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// The compiler is promised that a digit of base 4 is all there is.
static int bits(int digit) {
  switch (digit) {
  case 0: return 0;
  case 1:
  case 2: return 1;
  case 3: return 2;
#ifdef FIXED
  default: return -1;
#endif
  }
  __builtin_unreachable();  //~ FAULT trap  //~ NOT x86_64 -O0: gcc leaves out what cannot be reached
}
int main(int argc, char **argv) {
  int digit = argv[1][0] - '0';
  if (digit < 0 || digit > 4) return 2;
  return bits(digit) == 2;
}
