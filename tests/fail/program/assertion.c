//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
#include <assert.h>
int main(int argc, char **argv) {
  unsigned char a = argv[1][0], b = argv[1][1];
#ifdef FIXED
  if (a > 100) return 1;
#endif
  assert(a * 7 + b != 1000);  //~ FAULT assertion-failed: a * 7 + b != 1000
  return 0;
}
