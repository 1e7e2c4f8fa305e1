//@ frontend: bitcode x86_64
// Euclid's algorithm as a task of SV-COMP: what it gives divides both numbers, unless one of them is 0.
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_assert(int);
static unsigned gcd(unsigned a, unsigned b) {
#ifdef FIXED
  while (b != 0) {
#else
  while (b > 1) {
#endif
    unsigned rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
int main(void) {
  unsigned a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(a > 0 && a < 8 && b > 0 && b < 4);
  unsigned d = gcd(a, b);
  __VERIFIER_assert(a % d == 0 && b % d == 0);  //~ FAULT assertion-failed
  return 0;
}
