//@ frontend: bitcode x86_64
//@ options: --uninit symbolic-globals
//@ replay: no, memory never written has other values natively
//@ paths: 9
/* Variables of the program without an initial value are input; those with one and the C library's are not. */
#include <stdio.h>
#include <stdlib.h>
char text[4];
int limit = 4, shown;
static int used;
int main(void) {
  static unsigned char index;
  if (limit != 4) abort();
  if (text[0] != 'x' || text[1] != 'y') return 0;
#ifdef FIXED
  if (index >= 4) return 2;
#endif
  if (used++ == 7 && shown) return 1;
  volatile char *copy = malloc(4);
  if (!copy) return 3;
  copy[index++] = text[2];  //~ FAULT out-of-bounds-write: write of 1 byte at offset 4 of a heap object (4 bytes)
  putchar(copy[index - 1]);
  free((void *)copy);
  return 0;
}
