//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
#ifdef FIXED
#define STORAGE static
#else
#define STORAGE
#endif
static int *leak(int x) {
  STORAGE int local;
  int *volatile p = &local;
  local = x;
  return p;
}
int main(int argc, char **argv) {
  int *p = leak(argv[1][0]);
  if (argv[1][0] == 'x') return *p != 'x';  //~ FAULT use-after-return
  return 0;
}
