//@ frontend: bitcode x86_64
//@ args: --sym-files 1 5 A
// A file of the right form in a version that is not handled ends the program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int load(FILE *f) {
  char head[5];
  if (fread(head, 1, sizeof head, f) != sizeof head || memcmp(head, "WRY", 3) != 0) return 1;
  int version = head[3] - '0', flags = head[4];
  switch (version) {
  case 1: return 0;
  case 2: return flags & 1;
  case 3:
#ifdef FIXED
    return 1;
#else
    if (flags != '!') return 1;
    abort();  //~ FAULT abort
#endif
  }
  return 2;
}
int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 3;
  int status = load(f);
  fclose(f);
  return status;
}
