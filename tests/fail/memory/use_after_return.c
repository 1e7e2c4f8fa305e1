//@ args: --sym-arg 1
static int *leak(int x) {
  int local = x, *volatile p = &local;
  return p;
}
int main(int argc, char **argv) {
  int *p = leak(argv[1][0]);
  if (argv[1][0] == 'x') return *p != 'x';  //~ FAULT use-after-return
  return 0;
}
