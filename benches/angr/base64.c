// input: stdin 4
// Decodes a group of base64.
#include <unistd.h>

static int value(unsigned char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

int main(void) {
  unsigned char in[4], out[3];
  unsigned bits = 0;
  if (read(0, in, 4) != 4) return 2;
  for (int i = 0; i < 4; i++) {
    int v = value(in[i]);
    if (v < 0) return 1;
    bits = bits << 6 | v;
  }
  for (int i = 0; i < 3; i++) out[i] = bits >> (16 - 8 * i);
  write(1, out, 3);
  return 0;
}
