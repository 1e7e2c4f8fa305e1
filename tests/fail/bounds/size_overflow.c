//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// The size of a table is computed in 16 bits, and wraps.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct pixel { uint32_t colour[128]; };
int main(void) {
  uint8_t size[2];
  if (read(0, size, 2) != 2) return 2;
#ifdef FIXED
  uint32_t bytes;
#else
  uint16_t bytes;
#endif
  unsigned width = size[0] & 0xf0, height = size[1] & 0xc0;
  bytes = width * height * 4;
  if (width == 0 || height == 0) return 1;
  uint8_t *image = malloc(bytes);
  if (!image) return 3;
  for (unsigned y = 0; y < height; y += 64)
    image[y * width * 4] = 0xff;  //~ FAULT out-of-bounds-write: write of 1 byte
  free(image);
  return 0;
}
