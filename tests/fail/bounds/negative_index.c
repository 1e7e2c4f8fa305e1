//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// A table by character, indexed by a plain `char`.
static const unsigned char kinds[128] = {['0'] = 1, ['a'] = 2, ['_'] = 3};
static int kind(char c) {
#ifdef FIXED
  if (c < 0) return 0;
#endif
  return kinds[(int)c];  //~ FAULT out-of-bounds-read: read of 1 byte
}
int main(int argc, char **argv) { return kind(argv[1][0]) == 2; }
