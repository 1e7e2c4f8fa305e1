//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
//@ paths: 15
// After the first loop, `put - length` is the beginning of the text, which only the loop's end tells. The reads there ask for no bounds.
int main(int argc, char **argv) {
  static char text[8];
  char *put = text;
  unsigned length = (argv[1][0] + argv[1][2]) & 7, left = length;
  while (left--) *put++ = argv[1][1];
  const char *get = put - length;
  return get[0] == 'x' || length == 0;
}
