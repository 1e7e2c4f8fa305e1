// A long loop without a decision, and a block operation that is long by itself.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  volatile unsigned n = 0;
  char *block = malloc(64 << 20);
  for (unsigned long i = 0; i < 1ul << 40; i++) {
    n += (unsigned)i;
    if (i % 1000000 == 0) memset(block, (int)i, 64 << 20);
  }
  return argv[1][0] == 'x';
}
