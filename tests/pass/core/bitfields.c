//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 3
struct f { unsigned a : 3, b : 5; int c : 4; };
int main(int argc, char **argv) {
  unsigned char x = argv[1][0];
  struct f f = {x, x >> 3, -3};
  if (f.a == 5 && f.b == 9) return f.c == -3 ? 1 : 9;
  return ((f.b << 3 | f.a) == x) ? 0 : 8;
}
