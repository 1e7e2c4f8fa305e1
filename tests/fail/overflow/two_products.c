//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow signed
//@ args: --sym-stdin 8
// Two products on one line are two findings.
#include <unistd.h>
int main(void) {
  int width, height;
  if (read(0, &width, 4) != 4 || read(0, &height, 4) != 4) return 2;
#ifdef FIXED
  if (width < 0 || height < 0 || width > 1000 || height > 1000) return 1;
#endif
  int big = width * 3 > 90, tall = height * 5 > 90;  //~ FAULT signed-overflow: `int` //~ FAULT signed-overflow: `int`
  return big + tall;
}
