//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 3
int main(int argc, char **argv) {
  unsigned char seen[8] = {0}, c = argv[1][0];
  if (c > 7) return 100;
  seen[c] = 1;
  return seen[3] ? 1 : 0;
}
