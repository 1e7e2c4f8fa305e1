//@ frontend: bitcode x86_64
//@ paths: 3
#include <klee/klee.h>
#include <wryneck.h>
int main(void) {
  int x;
  klee_make_symbolic(&x, sizeof x, "x");
  klee_assume(x > 10);
  klee_assume(x < 20);
  int y = klee_range(0, 2, "y");
  if (y) return x > 10 ? 1 : 9;
  wryneck_assume(x != 15);
  return x == 15 ? 9 : x == 12 ? 2 : 3;
}
