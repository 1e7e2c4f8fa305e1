//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// A parser by recursive descent calls itself without having read anything.
static const char *p;
static int expression(int depth) {  //~ ONLY x86_64 -O0 FAULT stack-overflow
  volatile char here[64] = {0};  //~ ONLY x86_64 -O2 FAULT stack-overflow
  here[0] = depth;
  if (*p == '(') {
    p++;
    return expression(depth + 1) + here[0];
  }
  if (*p == '-') {
#ifdef FIXED
    p++;
#endif
    return -expression(depth) + here[0];  //~ FAULT stack-overflow  //~ NOT x86_64: the stack is used up by a write of the function called
  }
  return *p == 'x';
}
int main(int argc, char **argv) {
  p = argv[1];
  return expression(0) == 1;
}
