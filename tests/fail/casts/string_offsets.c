//@ frontend: bitcode x86_64
//@ args: --sym-stdin 20
// A font's table of names has offsets into the same file. Offset and length are added up in 16 bits.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct name { uint8_t id, language; uint8_t length[2], offset[2]; };
struct names { uint8_t magic, count; struct name names[]; };
static uint16_t big(const uint8_t *at) { return at[0] << 8 | at[1]; }
static int initial(const uint8_t *file, uint16_t size, unsigned id) {
  const struct names *n = (const struct names *)file;
  if (n->magic != 'n' || n->count > 2) return -1;
  for (unsigned i = 0; i < n->count; i++) {
    const struct name *at = &n->names[i];
    uint16_t offset = big(at->offset), length = big(at->length), end = offset + length;
    if (at->id != id || length == 0) continue;
#ifdef FIXED
    if (offset >= size) return -1;
#endif
    if (end > size || end <= sizeof *n) return -1;
    return file[offset];  //~ FAULT out-of-bounds-read: read of 1 byte
  }
  return -1;
}
int main(void) {
  uint8_t *file = malloc(20);
  if (!file || read(0, file, 20) != 20) return 2;
  int letter = initial(file, 20, 4);
  free(file);
  return letter < 0;
}
