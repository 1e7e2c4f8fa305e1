//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// Two handles for one buffer: one is closed, the other is written through.
#include <stdlib.h>
#include <unistd.h>
static char *handle[2];
int main(void) {
  char in[3];
  if (read(0, in, 3) != 3) return 2;
  handle[0] = handle[1] = malloc(8);
  if (!handle[0]) return 3;
  for (int i = 0; i < 3; i++) {
    switch (in[i]) {
    case 'c':
      free(handle[0]);
      handle[0] = NULL;
#ifdef FIXED
      handle[1] = NULL;
#endif
      break;
    case 'w':
      if (handle[1]) handle[1][i] = 'x';  //~ FAULT use-after-free: write of 1 byte
      break;
    }
  }
  free(handle[0]);
  return 0;
}
