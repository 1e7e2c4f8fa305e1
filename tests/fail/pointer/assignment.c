//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// An assignment is split at its `=`, which may not be there.
#include <string.h>
int main(int argc, char **argv) {
  char *line = argv[1];
  if (line[0] == '#' || line[0] == '\0') return 0;
  char *equals = strchr(line, '=');
#ifdef FIXED
  if (!equals) return 1;
#endif
  *equals = '\0';  //~ FAULT null-dereference: write of 1 byte
  return equals[1] == 'y';
}
