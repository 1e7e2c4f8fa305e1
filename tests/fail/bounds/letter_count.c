//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// Letters are counted, capitals among them.
#include <ctype.h>
int main(int argc, char **argv) {
  int count[26] = {0}, most = 0;
  for (const unsigned char *p = (const unsigned char *)argv[1]; *p; p++) {
#ifdef FIXED
    if (islower(*p))
#else
    if (isalpha(*p))
#endif
      count[*p - 'a']++;  //~ FAULT out-of-bounds-read: read of 4 bytes at offset -  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  }
  for (int i = 0; i < 26; i++)
    if (count[i] > most) most = count[i];
  return most > 1;
}
