//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
//@ paths: 4
// A comparison of a computed number is a threshold of the integer that it was made of.
#include <unistd.h>

int main(void) {
  unsigned short n;
  if (read(0, &n, 2) != 2)
    return 9;
  double celsius = n / 10.0 - 273.15;
  if (celsius < -40.0)
    return 1;
  if (celsius > 100.0f)
    return 2;
  return (long double)celsius >= 36.6L ? 3 : 0;
}
