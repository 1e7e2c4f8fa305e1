//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow signed
//@ args: --sym-stdin 4
// The smallest number has no absolute value.
#include <limits.h>
#include <unistd.h>
int main(void) {
  int n;
  if (read(0, &n, sizeof n) != sizeof n) return 2;
#ifdef FIXED
  if (n == INT_MIN) return 1;
#endif
  if (n < 0) n = -n;  //~ FAULT signed-overflow: -(-2147483648) overflows `int`
  return n > 9;
}
