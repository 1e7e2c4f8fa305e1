//@ frontend: bitcode x86_64
// A harness for KLEE: a value is put in its place among sorted ones, whose last falls out.
#include <assert.h>
#include <klee/klee.h>
int main(void) {
  signed char v[3], x;
  klee_make_symbolic(v, sizeof v, "v");
  klee_make_symbolic(&x, sizeof x, "x");
  klee_assume(v[0] <= v[1]);
  klee_assume(v[1] <= v[2]);
  int at = 2;
#ifdef FIXED
  const int first = 0;
#else
  const int first = 1;
#endif
  while (at > first && v[at - 1] > x) {
    v[at] = v[at - 1];
    at--;
  }
  v[at] = x;
  klee_assert(v[0] <= v[1] && v[1] <= v[2]);  //~ FAULT assertion-failed
  return 0;
}
