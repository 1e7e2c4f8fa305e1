//@ frontend: bitcode x86_64
//@ cc: -std=gnu89 -w
//@ args: --sym-stdin 2
//@ paths: 8
// Calls by a type with other variable arguments than the function's: declarations without parameters, and casts of function pointers.
#include <assert.h>
#include <stdarg.h>

int open(), fcntl(), printf(), sprintf(), atoi();
long read();
double strtod();

static int first(int n, ...) {
  va_list ap;
  int result;
  va_start(ap, n);
  result = va_arg(ap, int);
  va_end(ap);
  return n * 100 + result;
}
static int sum(int n, double x, int m) {
  return n + m + (int)(x * 2);
}

int main(void) {
  unsigned char b[2];
  char text[50];
  int (*unprototyped)() = (int (*)())first;
  int (*more)(int, int, int) = (int (*)(int, int, int))first;
  int (*variable)(int, ...) = (int (*)(int, ...))sum;
  if (read(0, b, 2L) != 2) return 1;
  switch (b[0] & 7) {
  case 0: {
    int fd = open("made", 0101, 0600);
    assert(fd > 2 && fcntl(fd, 1, 0) == 0 && fcntl(fd, 1) == 0);
    return 2;
  }
  case 1: assert(sprintf(text, "%d-%g-%s", b[1] & 1, 2.5, "x") == 7 && text[0] == '0' + (b[1] & 1)); return 3;
  case 2: assert(unprototyped(1, b[1] & 3) == 100 + (b[1] & 3)); return 4;
  case 3: assert(more(2, b[1] & 3, 9) == 200 + (b[1] & 3)); return 5;
  case 4: assert(variable(b[1] & 3, 2.5, 7) == (b[1] & 3) + 12); return 6;
  case 5: assert(atoi("12") + (int)strtod("2.5", (void *)0) == 14); return 7;
  }
  return 0;
}
