//@ frontend: bitcode x86_64
//@ args: --sym-stdin 16
//@ options: --solver-timeout 20ms
//@ exit: 3
// Two factors of a product of primes: more than the solver does in its time. The ledger says so, and the run is not complete.
#include <unistd.h>
int main(void) {
  unsigned long long in[2];
  if (read(0, in, 16) != 16) return 3;
  unsigned long long a = in[0], b = in[1];
  if ((a >> 32) || (b >> 32) || a < 2 || b < 2) return 0;
  if (a * b == 9996897349958715673ull) return 1;
  return 2;
}
