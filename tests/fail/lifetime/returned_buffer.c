//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// A number is formatted in a local buffer, whose address is returned.
static const char *text(unsigned n) {
#ifdef FIXED
  static char buffer[4];
#else
  char buffer[4];
#endif
  char *p = buffer + sizeof buffer - 1;
  *p = '\0';
  do {
    *--p = '0' + n % 10;
    n /= 10;
  } while (n);
  const char *volatile start = p;
  return start;
}
int main(int argc, char **argv) {
  unsigned char c = argv[1][0];
  const char *shown = c < 100 ? "small" : text(c);
  return shown[0] == '2';  //~ FAULT use-after-return
}
