//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
#include <limits.h>
int main(int argc, char **argv) {
  int d = argv[1][0], low = INT_MIN;
  if (argv[1][0] == 'm') d = -1;
#ifdef FIXED
  if (d == 0 || d == -1) return 1;
#endif
  if (d < 0) return low / d;  //~ FAULT division-overflow
  return 100 / d;             //~ FAULT division-by-zero
}
