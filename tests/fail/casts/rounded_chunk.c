//@ frontend: bitcode x86_64
//@ args: --sym-stdin 16
// A chunk's size is rounded up to an even number before it is checked, which makes the greatest of all sizes 0.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct chunk { char name[4]; uint32_t size; uint8_t data[]; };
static int checksum(const uint8_t *file, uint32_t size) {
  uint32_t at = 0;
  while (size - at >= sizeof(struct chunk)) {
    const struct chunk *c = (const struct chunk *)(file + at);
    uint32_t room = size - at - sizeof *c, padded = (c->size + 1) & ~1u;
#ifdef FIXED
    if (c->size > room) return -1;
#endif
    if (padded > room) return -1;
    if (memcmp(c->name, "data", 4) == 0) {
      uint8_t sum = 0;
      for (uint32_t i = 0; i < c->size; i++) sum += c->data[i];  //~ FAULT out-of-bounds-read: read of 1 byte at offset 16
      return sum;
    }
    at += sizeof *c + padded;
  }
  return -1;
}
int main(void) {
  uint8_t *file = malloc(16);
  if (!file || read(0, file, 16) != 16) return 2;
  int sum = checksum(file, 16);
  free(file);
  return sum < 0;
}
