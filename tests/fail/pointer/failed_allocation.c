//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// The size of a block comes from a file; a size that no allocator can give is not refused.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int32_t size;
  if (read(0, &size, sizeof size) != sizeof size) return 2;
  if (size != 16 && size != 64 && size >= 0) return 1;
  if (size < -1) return 1;
  char *block = malloc((size_t)size);
#ifdef FIXED
  if (!block) return 3;
#endif
  block[0] = 'x';  //~ FAULT null-dereference: write of 1 byte
  free(block);
  return 0;
}
