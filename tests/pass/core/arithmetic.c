//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// Signs, widths and the odd corners of division and shifting, checked against one another on every path.
int main(int argc, char **argv) {
  signed char a = argv[1][0], b = argv[1][1];
  if (!a || !b) return 0;
  int q = a / b, r = a % b;
  if (q * b + r != a) return 1;
  if ((unsigned char)(a << 3) != (unsigned char)(a * 8)) return 2;
  if ((a >> 1) * 2 + (a & 1) != a) return 3;
  unsigned u = (unsigned)a * (unsigned)b;
  if ((signed char)u != (signed char)(a * b)) return 4;
  return 5;
}
