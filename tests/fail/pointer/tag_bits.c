//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// A pointer carries a mark in its high bits, which is not taken away before use.
#include <stdint.h>
static int cell = 5;
static uintptr_t mark(int *p, unsigned bits) { return (uintptr_t)p | (uintptr_t)bits << 56; }
int main(int argc, char **argv) {
  unsigned bits = argv[1][0] == 'm' ? argv[1][1] & 3 : 0;
  uintptr_t word = mark(&cell, bits);
#ifdef FIXED
  word &= (UINT64_C(1) << 56) - 1;
#endif
  return *(int *)word != 5;  //~ FAULT wild-pointer
}
