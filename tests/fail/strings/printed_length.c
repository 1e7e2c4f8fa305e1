//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// What `snprintf` would have written is taken for what it has written.
#include <stdio.h>
int main(int argc, char **argv) {
  char header[12];
  int used = snprintf(header, sizeof header, "name=[%s]", argv[1]);
  if (used < 0) return 2;
#ifdef FIXED
  if (used + 1 >= (int)sizeof header) return 1;
#endif
  header[used] = ';';
  header[used + 1] = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 12 of `header`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  return header[6] == 'x';
}  //~ ONLY x86_64 -O2 FAULT overwritten-return-address
