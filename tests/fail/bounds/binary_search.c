//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// A binary search begins with its upper end behind the table and takes it for inside.
#include <stdlib.h>
static const short codes[5] = {10, 22, 34, 47, 58};
#ifdef FIXED
enum { END = 4 };
#else
enum { END = 5 };
#endif
static int find(int wanted) {
  int low = 0, high = END;
  while (low <= high) {
    int middle = (low + high) / 2;
    int here = codes[middle];  //~ FAULT out-of-bounds-read: read of 2 bytes at offset 10 of `codes`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
    if (here == wanted) return middle;
    if (here < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
int main(int argc, char **argv) {
  unsigned char a = argv[1][0], b = a ? argv[1][1] : 0;
  if (a < '0' || a > '9' || b < '0' || b > '9') return 1;
  return find((a - '0') * 10 + b - '0') < 0;
}
