//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
#include <stdlib.h>
int main(int argc, char **argv) {
  char local[4], *p = malloc(8);
  switch (argv[1][0]) {
#ifndef FIXED
  case 'a': free(local); break;  //~ FAULT invalid-free
  case 'b': free(p + 1); break;  //~ FAULT invalid-free
#endif
  default: free(p);
  }
  return 0;
}
