//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
static int forever(volatile int *p) {  //~ ONLY x86_64 -O0 FAULT stack-overflow
  volatile int here[64];
  here[0] = *p + 1;  //~ ONLY x86_64 -O2 FAULT stack-overflow
#ifdef FIXED
  if (here[0] > 100) return 0;
#endif
  return forever(here) + here[0];  //~ FAULT stack-overflow  //~ NOT x86_64: the stack is used up by a write of the function called
}
int main(int argc, char **argv) {
  volatile int zero = 0;
  return argv[1][0] == 's' ? forever(&zero) : 0;
}
