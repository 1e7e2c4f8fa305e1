// Chains of look-ups in a table of input: each makes the next query harder.
int main(int argc, char **argv) {
  unsigned char *v = (unsigned char *)argv[1];
  unsigned i = 0, sum = 0;
  for (unsigned n = 0; n < 64; n++) {
    i = v[i % 64] * 5 + n;
    sum = sum * 31 + v[i % 64];
  }
  return sum == 0xdeadbeef;
}
