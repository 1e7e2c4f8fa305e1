//@ frontend: bitcode x86_64
//@ args: --sym-stdin 12
// A name in a message goes on elsewhere in it; the offset of that place may lie behind the message.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct header { uint16_t id, flags, questions; };
static int name_length(const uint8_t *message, unsigned size) {
  unsigned at = sizeof(struct header), length = 0, jumps = 0;
  while (at < size) {
    uint8_t n = message[at];
    if (n == 0) return length;
    if (n >= 0xc0) {
      if (at + 1 >= size || ++jumps > 2) return -1;
      unsigned target = (n & 0x3f) << 8 | message[at + 1];
#ifdef FIXED
      if (target < sizeof(struct header) || target >= size) return -1;
#else
      if (target < sizeof(struct header)) return -1;
#endif
      if (message[target] >= 0xc0) return -1;  //~ FAULT out-of-bounds-read: read of 1 byte
      at = target;
      continue;
    }
    if (n > 63) return -1;
    length += n + 1;
    at += n + 1;
  }
  return -1;
}
int main(void) {
  uint8_t *message = malloc(12);
  if (!message || read(0, message, 12) != 12) return 2;
  int length = ((const struct header *)message)->questions == 0x100 ? name_length(message, 12) : -1;
  free(message);
  return length < 0;
}
