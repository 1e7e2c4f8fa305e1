//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
//@ paths: 15
// After the first loop, `put - length` is the beginning of the text, which only the loop's end tells. The reads there ask for no bounds.
#include <unistd.h>
int main(void) {
  static unsigned char in[3];
  static char text[8];
  if (read(0, in, 3) != 3) return 2;
  char *put = text;
  unsigned length = (in[0] + in[2]) & 7, left = length;
  while (left--) *put++ = in[1];
  const char *get = put - length;
  return get[0] == 'x' || length == 0;
}
