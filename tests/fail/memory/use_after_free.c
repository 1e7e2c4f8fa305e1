//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 2
#include <stdlib.h>
int main(int argc, char **argv) {
  char *p = malloc(8);
  p[0] = 1;
#ifndef FIXED
  if (argv[1][0] == 'f') free(p);
#endif
  return p[0];  //~ FAULT use-after-free: read of 1 byte at offset 0
}
