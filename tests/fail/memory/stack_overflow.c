//@ args: --sym-arg 1
static int forever(volatile int *p) {
  volatile int here[64];
  here[0] = *p + 1;
#ifdef FIXED
  if (here[0] > 100) return 0;
#endif
  return forever(here) + here[0];  //~ FAULT stack-overflow
}
int main(int argc, char **argv) {
  volatile int zero = 0;
  return argv[1][0] == 's' ? forever(&zero) : 0;
}
