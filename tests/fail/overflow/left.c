//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow unsigned
//@ args: --sym-stdin 2
// How much is left after a header that may be longer than the packet.
#include <stddef.h>
#include <unistd.h>
int main(void) {
  unsigned char packet[2];
  if (read(0, packet, 2) != 2) return 2;
  size_t header = packet[0], length = packet[1];
#ifdef FIXED
  if (header > length) return 1;
#endif
  size_t left = length - header;  //~ FAULT unsigned-overflow: overflows `size_t`
  return left == 3;
}
