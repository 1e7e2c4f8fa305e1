//@ frontend: bitcode x86_64
//@ args: --sym-arg 5
// A word is scanned without a width.
#include <stdio.h>
int main(int argc, char **argv) {
  char word[5];
  unsigned char c;
  for (const char *p = argv[1]; (c = *p) != 0; p++)
    if (c <= 'a' || c > 'z') return 1;
#ifdef FIXED
  if (sscanf(argv[1], "%4s", word) != 1) return 2;
#else
  if (sscanf(argv[1], "%s", word) != 1) return 2;  //~ FAULT out-of-bounds-write  //~ NOT x86_64 -O2: in optimised code no address tells its variable
#endif
  return word[0] == 'q';
}  //~ ONLY x86_64 -O2 FAULT overwritten-return-address
