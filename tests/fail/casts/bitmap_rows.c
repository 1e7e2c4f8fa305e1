//@ frontend: bitcode x86_64
//@ args: --sym-stdin 20
// The rows of a picture are padded to four bytes; whether they fit into the file is reckoned without the padding.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct picture { uint16_t magic; uint8_t start, bits; uint16_t width, height; } __attribute__((packed));
static int darkest(const uint8_t *file, unsigned size) {
  const struct picture *p = (const struct picture *)file;
  if (p->magic != 0x4d42 || p->bits != 8 || p->start < sizeof *p || p->start > size) return -1;
  if (p->width == 0 || p->width > 12 || p->height == 0 || p->height > 4) return -1;
  unsigned stride = (p->width + 3) & ~3u;
#ifdef FIXED
  if (p->height * stride > size - p->start) return -1;
#else
  if (p->height * p->width > size - p->start) return -1;
#endif
  const uint8_t *rows = file + p->start;
  int least = 255;
  for (int y = p->height - 1; y >= 0; y--)
    if (rows[y * stride] < least) least = rows[y * stride];  //~ FAULT out-of-bounds-read: read of 1 byte
  return least;
}
int main(void) {
  uint8_t *file = malloc(20);
  if (!file || read(0, file, 20) != 20) return 2;
  int least = darkest(file, 20);
  free(file);
  return least < 0;
}
