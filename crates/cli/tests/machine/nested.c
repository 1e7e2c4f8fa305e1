#include <stdio.h>

static int __attribute__((noinline)) apply(int (*f)(int), int v) { return f(v); }

int main(void) {
  int sum = 1;
  int add(int x) {
    sum += x;
    return sum;
  }
  return getchar() == 'n' ? apply(add, 10) : 0;
}
