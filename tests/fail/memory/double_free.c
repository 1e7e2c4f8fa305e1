//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
#include <stdlib.h>
int main(int argc, char **argv) {
  char *p = malloc(8);
  if (argv[1][0] == 'f') {
    free(p);
#ifdef FIXED
    p = NULL;
#endif
  }
  free(p);  //~ FAULT double-free
  return 0;
}
