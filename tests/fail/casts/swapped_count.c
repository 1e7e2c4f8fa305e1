//@ frontend: bitcode x86_64
//@ args: --sym-stdin 12
// A table is made for as many entries as its first byte says, and filled with as many as the number of two bytes says.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct saved { uint16_t count; uint16_t entries[5]; };
struct table { unsigned count; unsigned entries[]; };
static struct table *load(const uint8_t *file) {
  const struct saved *s = (const struct saved *)file;
  uint16_t count = __builtin_bswap16(s->count);
  if (count > 5) return NULL;
#ifdef FIXED
  struct table *t = malloc(sizeof *t + count * sizeof t->entries[0]);
#else
  struct table *t = malloc(sizeof *t + (s->count & 255) * sizeof t->entries[0]);
#endif
  if (!t) exit(3);
  t->count = count;
  for (unsigned i = 0; i < count; i++) t->entries[i] = __builtin_bswap16(s->entries[i]);  //~ FAULT out-of-bounds-write: write of 4 bytes at offset 4
  return t;
}
int main(void) {
  uint8_t *file = malloc(sizeof(struct saved));
  if (!file || read(0, file, sizeof(struct saved)) != sizeof(struct saved)) return 2;
  struct table *t = load(file);
  unsigned count = t ? t->count : 0;
  free(t);
  free(file);
  return count == 0;
}
