//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A hash table whose number of buckets comes from its header.
#include <stdint.h>
#include <unistd.h>
static uint32_t hash(const unsigned char *key, unsigned n) {
  uint32_t h = 2166136261u;
  while (n--) h = (h ^ *key++) * 16777619u;
  return h;
}
int main(void) {
  unsigned char in[4];
  if (read(0, in, 4) != 4 || in[0] != 'H') return 2;
  unsigned buckets = in[1] & 0x0f;
#ifdef FIXED
  if (buckets == 0) return 1;
#endif
  return hash(in + 2, 2) % buckets == 3;  //~ FAULT division-by-zero
}
