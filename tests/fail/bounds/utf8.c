//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// A sequence of UTF-8 is cut off by the end of the text.
#include <stdlib.h>
#include <unistd.h>
static unsigned decode(const unsigned char *p, unsigned left, unsigned *used) {
  unsigned n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : 3, code = n == 1 ? p[0] : p[0] & (0xff >> (n + 1));
#ifdef FIXED
  if (n > left) n = left;
#endif
  for (unsigned i = 1; i < n; i++) code = code << 6 | (p[i] & 0x3f);  //~ FAULT out-of-bounds-read: read of 1 byte at offset 3
  *used = n;
  return code;
}
int main(void) {
  unsigned char *text = malloc(3);
  unsigned characters = 0, used;
  if (!text || read(0, text, 3) != 3) return 2;
  for (unsigned at = 0; at < 3; at += used) {
    decode(text + at, 3 - at, &used);
    characters++;
  }
  free(text);
  return characters;
}
