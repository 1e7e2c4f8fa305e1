//@ frontend: bitcode x86_64
//@ args: --sym-stdin 28
// A router writes its address where an option of a packet points, which leaves room for one byte of the four.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
struct ip { uint8_t words : 4, version : 4; uint8_t service; uint16_t length; uint8_t rest[16]; };
struct option { uint8_t type, length, pointer; uint8_t addresses[]; };
static int record(uint8_t *packet, unsigned size) {
  struct ip *ip = (struct ip *)packet;
  unsigned at = sizeof *ip, end = ip->words * 4u;
  if (ip->version != 4 || end < at || end > size) return -1;
  while (at < end && packet[at] != 0) {
    struct option *o = (struct option *)(packet + at);
    if (o->type == 1) {
      at++;
      continue;
    }
    if (end - at < sizeof *o || o->length < sizeof *o || o->length > end - at) return -1;
    if (o->type == 7 && o->pointer >= 4) {
#ifdef FIXED
      if (o->pointer + 3 > o->length) return -1;
#else
      if (o->pointer > o->length) return -1;
#endif
      uint8_t *to = (uint8_t *)o + o->pointer - 1;
      for (int i = 0; i < 4; i++) to[i] = 10;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 28
      return 1;
    }
    at += o->length;
  }
  return 0;
}
int main(void) {
  uint8_t *packet = malloc(28);
  if (!packet || read(0, packet, 28) != 28) return 2;
  int done = record(packet, 28);
  free(packet);
  return done < 0;
}
