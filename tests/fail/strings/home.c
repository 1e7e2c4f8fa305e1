//@ frontend: bitcode x86_64
//@ args: --sym-env HOME:5
// A variable of the environment is longer than a buffer.
#include <stdlib.h>
#include <string.h>
int main(void) {
  char path[8];
  const char *home = getenv("HOME");
  if (!home || home[0] != '/') return 1;
#ifdef FIXED
  if (strlen(home) + 4 > sizeof path) return 1;
#endif
  strcpy(path, home);
  strcat(path, "/rc");  //~ FAULT out-of-bounds-write  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  return path[1] == 'x';
}
