// Fills memory with expressions, each of which depends on the one before.
#include <stdlib.h>
int main(int argc, char **argv) {
  unsigned long last = argv[1][0];
  for (;;) {
    unsigned long *block = malloc(1 << 20);
    if (!block) return last == 7;
    for (int i = 0; i < 1 << 17; i++) block[i] = last = last * 31 + i;
  }
}
