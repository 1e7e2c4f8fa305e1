//@ frontend: bitcode x86_64
//@ args: --sym-stdin 24
//@ options: --emit new
// A body comes in chunks of up to eight bytes. Each is checked to fit into the buffer, but not behind those before it.
#include <stdlib.h>
#include <unistd.h>
static int body(const unsigned char *at, const unsigned char *end, unsigned char *to, int size) {
  int n = 0;
  while (at < end && *at != '0') {
    if (*at < '1' || *at > '8') return -1;
    int length = *at++ - '0';
    if (at == end || *at++ != ':' || end - at < length) return -1;
#ifdef FIXED
    if (n + length > size) return -1;
#else
    if (length > size) return -1;
#endif
    while (length-- > 0) to[n++] = *at++;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 12
  }
  return n;
}
int main(void) {
  unsigned char in[24], *out = malloc(12);
  if (!out || read(0, in, sizeof in) != sizeof in) return 2;
  int n = body(in, in + sizeof in, out, 12);
  free(out);
  return n < 0;
}
