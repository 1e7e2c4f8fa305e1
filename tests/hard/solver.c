// A query that a SAT solver does not decide: products and remainders of 64 bits.
#include "wryneck.h"
int main(void) {
  unsigned long a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  if (a > 1 && b > 1 && a < (1ul << 32) && b < (1ul << 32) && a * b % 18446744073709551557ul == 1234567891011ul && (a ^ b) % 1000003 == 77) return 1;
  return 0;
}
