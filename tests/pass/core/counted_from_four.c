//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// An index counted from four: compilers fold the four into the array's address, which is then one of another object.
#include <stdlib.h>
int main(int argc, char **argv) {
  volatile long *before = malloc(80), *array = malloc(80);
  if (!before || !array) return 3;
  for (long i = 0; i < 10; i++) array[i] = i;
  free((void *)before);
  long n = (unsigned char)argv[1][0];
  if (n < 4 || n > 13) return 1;
  return array[n - 4] == n - 4 ? 0 : 2;
}
