//@ frontend: bitcode x86_64
// A task of SV-COMP: a door that may be opened only after the right code, in two steps.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
enum { CLOSED, HALF, OPEN };
int main(void) {
  int state = CLOSED, tries = 0;
  while (tries++ < 3) {
    int code = __VERIFIER_nondet_int();
    if (state == CLOSED && code == 4711) {
      state = HALF;
    } else if (state == HALF) {
#ifdef FIXED
      state = CLOSED;
#else
      state = (code ^ 4711) == 0x2a ? OPEN : CLOSED;
#endif
    }
    if (state == OPEN) reach_error();  //~ FAULT assertion-failed: `reach_error` is reached
  }
  return state;
}
