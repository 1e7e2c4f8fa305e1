//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ paths: 2
// Structures by value, in registers and in memory, and unions.
struct small { int x; char c; };
struct big { long v[5]; struct small s; };
union both { unsigned u; unsigned char b[4]; };
static struct big make(struct small s) {
  struct big r = {{1, 2, 3, 4, 5}, s};
  r.v[2] += s.x;
  return r;
}
static long use(struct big b) { b.v[0] = 7; return b.v[0] + b.v[2] + b.s.c; }
int main(int argc, char **argv) {
  struct small s = {10, argv[1][0]};
  struct big b = make(s);
  union both u = {0x01020304};
  long r = use(b);
  if (r == 7 + 13 + 'k') return 1;
  return b.v[0] == 1 && u.b[0] == 4 ? 0 : 2;
}
