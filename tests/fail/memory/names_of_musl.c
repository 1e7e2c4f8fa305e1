//@ frontend: bitcode, no sanitizer watches executables
//@ args: --sym-arg 2
// The host's C library, which sanitizers need, has none of these names: the finding is confirmed all the same.
#define _GNU_SOURCE
#include <float.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
static sigjmp_buf back;
int main(int argc, char **argv) {
  char name[8], *p = malloc(4);
  if (sigsetjmp(back, 1)) return 3;
  strlcpy(name, argv[1], sizeof name);
#ifdef FIXED
  if (name[1] == 'x') p[name[0] & 3] = FLT_ROUNDS;
#else
  if (name[1] == 'x') p[4 + (name[0] & 3)] = FLT_ROUNDS;  //~ FAULT out-of-bounds-write
#endif
  free(p);
  return 0;
}
