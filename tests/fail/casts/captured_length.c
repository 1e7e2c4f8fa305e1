//@ frontend: bitcode x86_64
//@ args: --sym-stdin 24
// A record of captured packets has two lengths: what was captured is checked, what was sent is copied.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct record { uint32_t seconds, captured, sent; };
static int copy(const uint8_t *file, unsigned size, uint8_t *packet, unsigned room) {
  const struct record *r = (const struct record *)file;
  uint32_t captured = __builtin_bswap32(r->captured), sent = __builtin_bswap32(r->sent);
  if (captured > room || captured > size - sizeof *r || sent < captured || sent > 12) return -1;
#ifdef FIXED
  uint32_t n = captured;
#else
  uint32_t n = sent;
#endif
  const uint8_t *data = (const uint8_t *)(r + 1);
  for (uint32_t i = 0; i < n; i++) packet[i] = data[i];  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
  return n;
}
int main(void) {
  uint8_t *file = malloc(24), *packet = malloc(8);
  if (!file || !packet || read(0, file, 24) != 24) return 2;
  int n = copy(file, 24, packet, 8);
  free(packet);
  free(file);
  return n < 0;
}
