//@ frontend: bitcode x86_64
//@ args: --sym-stdin 18
// Names of one byte's length stand between records, so that these begin anywhere; the last may be cut off.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct record { uint8_t name; uint32_t size; uint16_t mode; } __attribute__((packed));
static int files(const uint8_t *at, const uint8_t *end) {
  unsigned total = 0;
  while (at < end) {
    const struct record *r = (const struct record *)at;
#ifdef FIXED
    if (end - at < (long)sizeof *r) return -1;
#endif
    if (r->name == 0) break;
    if (r->name > 4) return -1;
    total += r->size >> 24 | (r->mode & 1);  //~ FAULT out-of-bounds-read: read of
    at += sizeof *r + r->name;
  }
  return total & 0xff;
}
int main(void) {
  uint8_t *list = malloc(18);
  if (!list || read(0, list, 18) != 18) return 2;
  int total = files(list, list + 18);
  free(list);
  return total == 7;
}
