//@ frontend: bitcode x86_64
//@ paths: 2
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
int main(void) {
  int a = __VERIFIER_nondet_int();
  unsigned char b = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(a >= 0 && a < 100);
  if (a + b > 100 + 255) reach_error();
  return a == b ? 1 : 0;
}
