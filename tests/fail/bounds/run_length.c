//@ frontend: bitcode x86_64
//@ args: --sym-files 1 4 A
// Runs are unpacked beyond the buffer.
#include <stdio.h>
enum { SIZE = 8 };
static unsigned char out[SIZE];
int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 2;
  unsigned used = 0;
  for (;;) {
    int count = fgetc(f), value = fgetc(f);
    if (count == EOF || value == EOF) break;
    count &= 7;
#ifdef FIXED
    if (used + count > SIZE) return 1;
#endif
    for (; count > 0; count--) out[used++] = value;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8 of `out`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  }
  fclose(f);
  return out[0] == 'x';
}
