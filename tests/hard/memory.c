// Fills memory as fast as it can.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  for (;;) {
    char *block = malloc(32 << 20);
    if (!block) return argv[1][0] == 'x';
    memset(block, argc, 32 << 20);
  }
}
