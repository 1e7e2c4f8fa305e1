//@ frontend: bitcode x86_64
//@ options: --fail-calls 1
// Nobody looks whether there was memory.
#include <stdlib.h>
int main(void) {
  int *p = malloc(sizeof *p);
#ifdef FIXED
  if (!p) return 1;
#endif
  *p = 1; //~ FAULT null-dereference:
  free(p);
  return 0;
}
