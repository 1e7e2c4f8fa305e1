//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
// The root is whole and larger than the table only for some coefficients.
#include <math.h>
#include <unistd.h>

static int table[8];

int main(void) {
  signed char c[3];
  if (read(0, c, 3) != 3 || c[0] == 0)
    return 1;
  double a = c[0], b = c[1], d = b * b - 4 * a * c[2];
  if (d < 0)
    return 2;
  double root = (-b + sqrt(d)) / (2 * a);
#ifdef FIXED
  if (root >= 8)
    return 3;
#endif
  if (root < 0)
    return 4;
  return table[(int)root];  //~ FAULT out-of-bounds-read
}
