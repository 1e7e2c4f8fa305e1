//@ frontend: bitcode x86_64
//@ args: --sym-stdin 12
// A message of types, lengths and values. The members of a container are read as far as they say, not as far as the container goes.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct tlv { uint8_t type, length; uint8_t value[]; };
static int container(const uint8_t *at, unsigned size) {
  int sum = 0;
  while (size >= sizeof(struct tlv)) {
    const struct tlv *t = (const struct tlv *)at;
#ifdef FIXED
    if (t->length > size - sizeof *t) return -1;
#else
    if (t->length > 16) return -1;
#endif
    if (t->type == 2 && t->length == 4) {
      uint32_t n;
      memcpy(&n, t->value, sizeof n);  //~ FAULT out-of-bounds-read: read of 4 bytes
      sum += n & 15;
    }
    if (size < sizeof *t + t->length) return sum;
    size -= sizeof *t + t->length;
    at += sizeof *t + t->length;
  }
  return sum;
}
int main(void) {
  uint8_t *message = malloc(12);
  if (!message || read(0, message, 12) != 12) return 2;
  const struct tlv *outer = (const struct tlv *)message;
  int status = 1;
  if (outer->type == 0x30 && outer->length <= 10) status = container(outer->value, outer->length) < 0;
  free(message);
  return status;
}
