#include <stdio.h>

int main(void) {
  int c = getchar(), factor = c & 7, sum = 0;
  int product(int x) {
    sum += x;
    return x * factor;
  }
  int result = product(3) + product(c > 100 ? 5 : 1);
  if (sum > 4) result ^= 1;
  return result & 63;
}
