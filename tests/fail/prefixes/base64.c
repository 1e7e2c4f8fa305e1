//@ frontend: bitcode x86_64
//@ args: --sym-arg 14
//@ options: --emit new
// Base64 is decoded in groups of four digits; before a group there is room for one byte, and it has three.
#include <stdlib.h>
static signed char values[256];
static void fill(void) {
  for (int i = 0; i < 256; i++) values[i] = -1;
  for (int i = 0; i < 26; i++) values['A' + i] = i, values['a' + i] = i + 26;
}
static int decode(const char *in, unsigned char *out, int size) {
  unsigned bits = 0;
  int digits = 0, n = 0;
  for (; *in; in++) {
    if (*in == '\n' && digits % 4 == 0) continue;
    int d = values[(unsigned char)*in];
    if (d < 0) return -1;
    bits = bits << 6 | d;
    if (++digits % 4) continue;
#ifdef FIXED
    if (n + 3 > size) return -1;
#else
    if (n >= size) return -1;
#endif
    out[n++] = bits >> 16;
    out[n++] = bits >> 8;
    out[n++] = bits;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
  }
  return n;
}
int main(int argc, char **argv) {
  unsigned char *key = malloc(8);
  if (!key) return 3;
  fill();
  int n = decode(argv[1], key, 8);
  free(key);
  return n != 6;
}
