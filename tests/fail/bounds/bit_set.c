//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// A set of bits rounds its size down.
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  unsigned char in[2];
  if (read(0, in, 2) != 2) return 2;
  unsigned bits = 8 + in[0] % 16, bit = in[1];
#ifdef FIXED
  unsigned char *set = calloc((bits + 7) / 8, 1);
#else
  unsigned char *set = calloc(bits / 8, 1);
#endif
  if (!set || bit >= bits) return 1;
  set[bit / 8] |= 1u << bit % 8;  //~ FAULT out-of-bounds-read: read of 1 byte
  free(set);
  return 0;
}
