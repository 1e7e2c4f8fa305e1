// Variable arguments of every class, copied lists, lists passed on, structures by value among them.
#include <stdarg.h>
#include <stdio.h>

struct small { int a, b; };
struct pair { double x; long y; };
struct large { long v[5]; };
struct __attribute__((aligned(16))) aligned { long v[4]; };
struct __attribute__((aligned(16))) words { long a, b; };
struct __attribute__((aligned(16))) mixed { double a; long b; };

static long vsum(const char *kinds, va_list ap) {
  long sum = 0;
  for (; *kinds; kinds++) {
    switch (*kinds) {
    case 'i': sum = sum * 3 + va_arg(ap, int); break;
    case 'l': sum = sum * 3 + va_arg(ap, long); break;
    case 'd': sum = sum * 3 + (long)(va_arg(ap, double) * 4); break;
    case 'L': sum = sum * 3 + (long)(va_arg(ap, long double) * 4); break;
    case 's': sum = sum * 3 + *va_arg(ap, const char *); break;
    case 'S': { struct small s = va_arg(ap, struct small); sum = sum * 3 + s.a - s.b; break; }
    case 'P': { struct pair p = va_arg(ap, struct pair); sum = sum * 3 + (long)p.x + p.y; break; }
    case 'B': { struct large b = va_arg(ap, struct large); sum = sum * 3 + b.v[0] + b.v[4]; break; }
    case 'A': { struct aligned a = va_arg(ap, struct aligned); sum = sum * 3 + a.v[0] - a.v[1]; break; }
    case 'W': { struct words w = va_arg(ap, struct words); sum = sum * 3 + w.a - w.b; break; }
    case 'M': { struct mixed m = va_arg(ap, struct mixed); sum = sum * 3 + (long)(m.a * 2) - m.b; break; }
    case 'x': sum = sum * 3 + (long)(va_arg(ap, __int128) >> 60); break;
    }
  }
  return sum;
}
__attribute__((noinline)) static long sum(const char *kinds, ...) {
  va_list ap, copy;
  va_start(ap, kinds);
  va_copy(copy, ap);
  long first = vsum(kinds, ap), second = vsum(kinds, copy);
  va_end(copy);
  va_end(ap);
  return first == second ? first : -1;
}
__attribute__((noinline)) static int many(int a, double b, int c, int d, int e, int f, int g, int h, ...) {
  va_list ap;
  va_start(ap, h);
  int n = va_arg(ap, int);
  double m = va_arg(ap, double);
  va_end(ap);
  return a + (int)b + c + d + e + f + g + h + n * 100 + (int)m;
}
static void log_(const char *format, ...) {
  char text[100];
  va_list ap;
  va_start(ap, format);
  vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  printf("[%s]\n", text);
}
int unprototyped();

int main(int argc, char **argv) {
  (void)argv;
  struct small s = {argc + 8, argc};
  struct pair p = {2.5, argc};
  struct large b = {{argc, 2, 3, 4, 5}};
  struct aligned a = {{100, argc}};
  printf("%ld\n", sum(""));
  printf("%ld\n", sum("ii", argc, 7));
  printf("%ld\n", sum("dLd", 1.5, 2.25L, (double)argc));
  printf("%ld\n", sum("isL", argc, "abc", 3.0L));
  printf("%ld\n", sum("SPBi", s, p, b, 5));
  printf("%ld\n", sum("iAiAx", 1, a, 2, a, (__int128)argc << 62));
  printf("%ld\n", sum("iiiiiiiidddddddddd", 1, 2, 3, 4, 5, 6, 7, 8, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0));
  // In two registers, or in memory aligned to 16 bytes where two are not left; a word behind it takes the last register.
  struct words w = {argc + 40, 3};
  struct mixed m = {1.5, argc + 4};
  printf("%ld\n", sum("WW", w, w));
  printf("%ld\n", sum("iWiW", 1, w, 2, w));
  printf("%ld\n", sum("iiiiWiWi", 1, 2, 3, 4, w, 5, w, 6));
  printf("%ld\n", sum("WWWiM", w, w, w, 1, m));
  printf("%ld\n", sum("MiMdMiM", m, 1, m, 2.5, m, 3, m));
  printf("%ld\n", sum("dddddddMMiii", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, m, m, 7, 8, 9));
  printf("%ld\n", sum("xixdi", (__int128)argc << 62, 2, (__int128)5 << 61, 0.5, 3));
  printf("%d\n", many(1, 2.0, 3, 4, 5, 6, 7, 8, argc + 8, 10.5));
  long (*through)(const char *, ...) = sum;
  printf("%ld %d\n", through("li", 5l, argc), unprototyped(argc, 2l));
  log_("%d %s %lx %c", argc, "text", 0xabcdl, 'q');
  return 0;
}
int unprototyped(int a, long b) { return a * 10 + (int)b; }
