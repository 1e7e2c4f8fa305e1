//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// A label is printed into a buffer that was measured for positive numbers.
#include <stdio.h>
#include <unistd.h>
int main(void) {
  short port;
#ifdef FIXED
  char label[8];
#else
  char label[7];
#endif
  if (read(0, &port, sizeof port) != sizeof port) return 2;
  if (port != 80 && port != 443 && port != -30000) return 1;
  sprintf(label, "p%d", port);  //~ FAULT out-of-bounds-write  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  return label[1] == '8';
}  //~ ONLY x86_64 -O2 FAULT overwritten-return-address
