//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 4
static int zero(int x) { return 0 * x; }
static int one(int x) { return x; }
static int two(int x) { return 2 * x; }
static int (*const table[])(int) = {zero, one, two};
int main(int argc, char **argv) {
  unsigned char c = argv[1][0];
  if (c > 2) return 50;
  return table[c](20);
}
