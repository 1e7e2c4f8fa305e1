//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow conversions
//@ args: --sym-arg 3
// A length is kept in a byte, a sign is lost, a number is too large for an integer.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int length = (int)strlen(argv[1]) * 100;
#ifdef FIXED
  if (length > 255) return 1;
#endif
  unsigned char kept = length;   //~ FAULT lossy-conversion: 300 (`int`) becomes 44 as `unsigned char`
  return kept > 100;
}
