//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// The block that a byte of a buffer lies in is found by its address. For the first bytes it would be the one before the buffer.
#include <stdint.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  unsigned at = argv[1][0] & 63;
  char *buffer = aligned_alloc(64, 64), *last = NULL;
  if (!buffer) return 2;
  char *byte = buffer + at - 16;
#ifdef FIXED
  byte = buffer + at;
  last = buffer;
#endif
  char *block = (char *)((uintptr_t)byte & ~(uintptr_t)31);
  *block = 1;  //~ FAULT out-of-bounds-write: write of 1 byte
  if (at == 63) *last = 1;  //~ FAULT null-dereference: write of 1 byte
  return block - buffer;
}
