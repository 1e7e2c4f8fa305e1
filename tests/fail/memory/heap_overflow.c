//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
#ifdef FIXED
  char *copy = malloc(strlen(argv[1]) + 1);
#else
  char *copy = malloc(3);
#endif
  strcpy(copy, argv[1]);  //~ FAULT out-of-bounds-write
  int r = copy[0];
  free(copy);
  return r != 0;
}
