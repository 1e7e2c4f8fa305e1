//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
static int fine(void) { return 3; }
int main(int argc, char **argv) {
  static int data[4];
#ifdef FIXED
  int (*volatile f)(void) = fine;
#else
  int (*volatile f)(void) = argv[1][0] == 'd' ? (int (*)(void))data : fine;
#endif
  return f();  //~ FAULT bad-call-target
}
