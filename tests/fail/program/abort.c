//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
#include <stdlib.h>
int main(int argc, char **argv) {
#ifndef FIXED
  if (argv[1][0] == '!') abort();  //~ FAULT abort
#endif
  return 0;
}
