//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 3
// A read at a symbolic offset inside its object does not fork; the comparison does.
static const unsigned char table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
int main(int argc, char **argv) {
  unsigned char c = argv[1][0];
  if (c > 7) return 100;
  return table[c] > 4 ? 1 : 0;
}
