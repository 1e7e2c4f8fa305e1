//@ frontend: bitcode x86_64
#include <wryneck.h>
int main(void) {
  int x;
  wryneck_make_symbolic(&x, sizeof x, "x");
#ifdef FIXED
  if (x > 1000) return 1;
#endif
  if (x == 1234567) wryneck_report("broken-invariant", "x must not be this");  //~ FAULT reported: x must not be this
  return 0;
}
