//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// The mask of a network: a prefix of length 0 shifts by the whole width.
#include <stdint.h>
int main(int argc, char **argv) {
  unsigned length = 0;
  for (const char *p = argv[1]; *p; p++) {
    if (*p < '0' || *p > '9') return 2;
    length = length * 10 + *p - '0';
  }
  if (length > 32) return 1;
#ifdef FIXED
  uint32_t mask = length ? UINT32_MAX << (32 - length) : 0;
#else
  uint32_t mask = UINT32_MAX << (32 - length);  //~ FAULT shift-too-far  //~ NOT x86_64 -O0: shifts of the CPU take their count modulo the width
#endif
  return mask == 0xffffff00;
}
