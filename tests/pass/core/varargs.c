//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ paths: 2
#include <stdarg.h>
static long total(int n, ...) {
  va_list list, copy;
  va_start(list, n);
  va_copy(copy, list);
  long t = 0;
  while (n-- > 0) t += va_arg(list, int);
  t += (long)va_arg(list, double) + va_arg(list, long);
  t += va_arg(copy, int);
  va_end(copy);
  va_end(list);
  return t;
}
int main(int argc, char **argv) {
  return total(3, 1, (int)argv[1][0], 3, 2.5, 1000L) == 1 + 'w' + 3 + 2 + 1000 + 1;
}
