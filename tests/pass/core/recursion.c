//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 6
static unsigned long factorial(unsigned n) { return n ? n * factorial(n - 1) : 1; }
int main(int argc, char **argv) {
  unsigned char n = argv[1][0];
  return n > 4 ? 0 : (int)factorial(n);
}
