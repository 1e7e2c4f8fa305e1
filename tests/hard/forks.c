// Many forks, each of a path with much memory of its own.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  unsigned n = 0;
  for (char *p = argv[1]; *p; p++) {
    char *block = malloc(1 << 20);
    if (!block) return 1;
    memset(block, *p == 'x' ? 'a' : 'b', 1 << 20);
    n += (unsigned char)block[n % 1000];
  }
  return n % 2;
}
