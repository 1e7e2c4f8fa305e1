//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
#include <stdio.h>
int main(void) {
  int c, digits = 0, n = 0;
  while ((c = getchar()) != EOF) {
    n++;
    digits += c >= '0' && c <= '9';
  }
  printf("%d of %d\n", digits, n);
  return digits;
}
