// Control flow: every loop, switches dense, sparse, wide and of strings, computed gotos, recursion, function pointers.
#include <stdio.h>

static const char *name(int x) {
  switch (x) {
  case 0: return "zero";
  case 1: return "one";
  case 2: return "two";
  case 3: return "three";
  case 4: return "four";
  case 5: return "five";
  default: return "many";
  }
}
static int sparse(long x) {
  switch (x) {
  case -1: return 1;
  case 1000000007: return 2;
  case 0x7fffffffffffffff: return 3;
  case 'a' ... 'f': return 4;
  case 9: x++; // fall through
  case 10: return (int)x;
  }
  return 0;
}
static int wide(__int128 x) {
  switch (x) {
  case 5: return 1;
  case (__int128)1 << 100: return 2;
  case -3: return 3;
  default: return 4;
  }
}
static int machine(const unsigned char *code) {
  static const void *const labels[] = {&&halt, &&push, &&add, &&mul, &&jump_if};
  static const int offsets[] = {0, (char *)&&add - (char *)&&halt};
  int stack[8], *sp = stack, steps = offsets[0];
  goto *labels[*code];
push: *sp++ = code[1]; code += 2; steps++; goto *labels[*code];
add: sp--, sp[-1] += sp[0]; code++; steps++; goto *labels[*code];
mul: sp--, sp[-1] *= sp[0]; code++; steps++; goto *labels[*code];
jump_if: code += *--sp ? code[1] : 2; steps++; goto *labels[*code];
halt: return sp[-1] * 100 + steps;
}
static int ackermann(int m, int n) { return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
static int collatz(unsigned long n) {
  int steps = 0;
  while (n != 1) n = n & 1 ? 3 * n + 1 : n / 2, steps++;
  return steps;
}
static int primes(int n) {
  static unsigned char composite[1000];
  int count = 0;
  for (int i = 2; i < n; i++) {
    if (composite[i]) continue;
    count++;
    for (int j = i + i; j < n; j += i) composite[j] = 1;
  }
  return count;
}
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int fold(int (*f)(int, int), const int *v, int n) {
  int r = v[0];
  for (int i = 1; i < n; i++) r = f(r, v[i]);
  return r;
}
static int gcd(int a, int b) {
  do {
    int t = a % b;
    a = b, b = t;
  } while (b);
  return a;
}
static int early(int n) {
  for (int i = 0;; i++) {
    for (int j = 0; j < n; j++) {
      if (i * j > 20) return i * 100 + j;
      if (j == i) break;
    }
    if (i > 50) goto out;
  }
out:
  return -1;
}
// Values swapped on the edge of a loop: the copies must happen at once.
static unsigned fibonacci(int n) {
  unsigned a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    unsigned t = a + b;
    a = b, b = t;
  }
  return a;
}
static int rotate(int n) {
  int a = 1, b = 2, c = 3;
  while (n--) {
    int t = a;
    a = b, b = c, c = t;
  }
  return a * 100 + b * 10 + c;
}

int main(int argc, char **argv) {
  (void)argv;
  for (int i = -1; i < 8; i++) printf("%s %d ", name(i * argc), sparse(i + 6));
  printf("%d %d %d %d\n", sparse(-argc), sparse(1000000007), sparse(0x7fffffffffffffff), sparse('c' * argc));
  printf("%d%d%d%d\n", wide(5 * argc), wide((__int128)argc << 100), wide(-3 * argc), wide(argc));
  const unsigned char code[] = {1, 2, 1, 3, 2, 1, 4, 3, 1, 1, 4, 3, 0, 1, 9, 0};
  printf("%d %d %d %d\n", machine(code), ackermann(2, 3), collatz(27), primes(1000));
  int v[] = {5, 4, 3, argc};
  printf("%d %d %d %d %u\n", fold(add, v, 4), fold(argc ? sub : add, v, 4), gcd(84 * argc, 36), early(10), fibonacci(30));
  for (int i = 0; i < 4; i++) printf("%d ", rotate(i * argc));
  printf("\n");
  return collatz(97) & 127;
}
