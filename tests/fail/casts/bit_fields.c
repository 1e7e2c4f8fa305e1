//@ frontend: bitcode x86_64
//@ args: --sym-stdin 6
// An event of two bytes has a channel of five bits; there are counters for 24 channels.
#include <stdint.h>
#include <string.h>
#include <unistd.h>
struct event { uint16_t kind : 3, channel : 5, value : 7, last : 1; } __attribute__((packed));
static uint32_t counters[24];
static int count(const uint8_t *at, unsigned size) {
  for (unsigned i = 0; i + sizeof(struct event) <= size; i += sizeof(struct event)) {
    const struct event *e = (const struct event *)(at + i);
    if (e->kind != 5) return -1;
#ifdef FIXED
    if (e->channel >= 24) return -1;
#endif
    counters[e->channel] += e->value;  //~ FAULT out-of-bounds-read: read of 4 bytes  //~ NOT x86_64 -O2: in optimised code no address tells its variable
    if (e->last) return i;
  }
  return -1;
}
int main(void) {
  uint8_t in[6];
  if (read(0, in, sizeof in) != sizeof in) return 2;
  return count(in, sizeof in) < 0;
}
