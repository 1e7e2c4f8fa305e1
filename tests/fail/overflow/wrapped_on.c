//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow all --keep-going 3
//@ args: --sym-stdin 4
// A path goes on with the wrapped sum, as the processor does, and shows what comes of it.
#include <unistd.h>
int main(void) {
  int a;
  if (read(0, &a, sizeof a) != sizeof a) return 2;
#ifdef FIXED
  if (a > 1000 || a < 0) return 1;
#endif
  int b = a + 10;               //~ FAULT signed-overflow: + 10 overflows `int`
  if (b < a) return a - b > 0;  //~ FAULT signed-overflow: behind another fault
  unsigned char c = b & 0xff;
  return c == 3;
}
