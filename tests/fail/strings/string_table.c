//@ frontend: bitcode x86_64
//@ args: --sym-files 1 6 A
// A table of strings as in an object file: an offset in front, the last string without its end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "rb");
  int offset = f ? fgetc(f) : EOF;
  if (offset == EOF || offset >= 5) return 1;
  char *strings = malloc(5);
  if (!strings || fread(strings, 1, 5, f) != 5) return 2;
#ifdef FIXED
  if (strings[4] != '\0') return 1;
#endif
  int status = strcmp(strings + offset, "main") == 0;  //~ FAULT out-of-bounds-read
  free(strings);
  fclose(f);
  return status;
}
