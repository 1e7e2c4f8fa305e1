//@ frontend: bitcode x86_64
//@ args: --sym-arg 14
//@ options: --emit new
// A name is made printable for a log of a fixed width: what cannot be shown is cut at the end, but its mark of three dots is put behind it.
#include <stdlib.h>
static int visible(const char *in, char *out, int size) {
  int n = 0;
  while (*in == ' ') in++;
  for (; *in; in++) {
    int wide = (unsigned char)*in < ' ' ? 2 : 1;
    if (n + wide > size - 1) {
#ifdef FIXED
      n = size - 4;
#endif
      for (int i = 0; i < 3; i++) out[n++] = '.';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 10
      break;
    }
    if (wide == 2) {
      out[n++] = '^';
      out[n++] = *in + '@';
    } else
      out[n++] = *in;
  }
  out[n] = '\0';
  return n;
}
int main(int argc, char **argv) {
  char *shown = malloc(10);
  if (!shown) return 3;
  int n = visible(argv[1], shown, 10);
  free(shown);
  return n == 0;
}
