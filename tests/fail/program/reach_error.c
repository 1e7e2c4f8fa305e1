//@ frontend: bitcode x86_64
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  unsigned x = __VERIFIER_nondet_int();
#ifdef FIXED
  x |= 1;
#endif
  if (x * x == 1522756) reach_error();  //~ FAULT assertion-failed: `reach_error` is reached
  return 0;
}
