//@ frontend: bitcode x86_64
//@ args: --sym-stdin 32
// The end of an object file's table of sections is reckoned in 32 bits, and so may lie before the table.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct object { char magic[4]; uint32_t table, count; };
struct section { uint32_t name, offset, size; };
static int code(const uint8_t *file, uint32_t size) {
  const struct object *o = (const struct object *)file;
  if (memcmp(o->magic, "\177OBJ", 4) != 0 || o->table % 4 || o->count > 2) return -1;
#ifdef FIXED
  if (o->table > size || o->count * sizeof(struct section) > size - o->table) return -1;
#else
  if ((uint32_t)(o->table + o->count * sizeof(struct section)) > size) return -1;
#endif
  const struct section *s = (const struct section *)(file + o->table);
  for (uint32_t i = 0; i < o->count; i++)
    if (s[i].name == 'c') return s[i].size;  //~ FAULT out-of-bounds-read: read of 4 bytes
  return 0;
}
int main(void) {
  uint8_t *file = malloc(32);
  if (!file || read(0, file, 32) != 32) return 2;
  int size = code(file, 32);
  free(file);
  return size == 1;
}
