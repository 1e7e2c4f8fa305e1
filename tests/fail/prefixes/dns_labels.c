//@ frontend: bitcode x86_64
//@ args: --sym-stdin 20
//@ options: --emit new
// The labels of a domain name are joined by dots. The room is checked for the letters of a label, not for its dot.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { NAME = 16 };
static int expand(const unsigned char *at, const unsigned char *end, char *name) {
  unsigned used = 0;
  while (at < end && *at) {
    unsigned length = *at++;
    if (length > 6 || length > end - at) return -1;
#ifdef FIXED
    if (used + length + 1 > NAME) return -1;
#else
    if (used + length > NAME) return -1;
#endif
    for (unsigned i = 0; i < length; i++) name[used++] = *at++;
    name[used++] = '.';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 16
  }
  if (used == 0) return -1;
  name[used - 1] = '\0';
  return used;
}
int main(void) {
  unsigned char packet[20];
  char *name = malloc(NAME);
  if (!name || read(0, packet, sizeof packet) != sizeof packet) return 2;
  int used = expand(packet, packet + sizeof packet, name);
  free(name);
  return used < 0;
}
