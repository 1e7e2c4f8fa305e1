//@ args: --sym-arg 1
static int fine(void) { return 3; }
int main(int argc, char **argv) {
  static int data[4];
  int (*volatile f)(void) = argv[1][0] == 'd' ? (int (*)(void))data : fine;
  return f();  //~ FAULT bad-call-target
}
