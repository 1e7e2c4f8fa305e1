//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
//@ cc: -O2
// The same program after clang's optimiser: vectors, selects, wide loads.
int main(int argc, char **argv) {
  unsigned char key[4] = {0};
  for (int i = 0; i < 4 && argv[1][i]; i++) key[i] = argv[1][i] ^ 0x20;
  unsigned sum = 0;
  for (int i = 0; i < 4; i++) sum += key[i] * (i + 1);
  return sum == 1000 ? 1 : sum > 900 ? 2 : 0;
}
