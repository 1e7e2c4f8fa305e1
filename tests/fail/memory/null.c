//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
struct pair { long a, b; };
int main(int argc, char **argv) {
  struct pair x = {1, 2}, *p = argv[1][0] == 'n' ? 0 : &x;
#ifdef FIXED
  if (!p) return 2;
#endif
  return (int)p->b;  //~ FAULT null-dereference
}
