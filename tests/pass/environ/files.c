//@ frontend: bitcode x86_64
//@ args: A --sym-files 1 4
#include <stdio.h>
int main(int argc, char **argv) {
  char b[8];
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 1;
  size_t n = fread(b, 1, sizeof b, f);
  fclose(f);
  if (n != 4) return 2;
  if (fopen("no such file", "r")) return 3;
  return b[0] == '#' && b[1] == '!' ? 10 : 11;
}
