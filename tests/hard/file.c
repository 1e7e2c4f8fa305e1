// Reads a large file of the host.
#include <stdio.h>
int main(int argc, char **argv) {
  static char block[1 << 16];
  unsigned long sum = 0;
  FILE *f = fopen(argv[1], "r");
  if (!f) return 2;
  for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) sum += n + (unsigned char)block[0];
  fclose(f);
  return argv[2][0] == 'x' ? sum % 2 : 3;
}
