// Structures by value in every way of passing, returned, nested, packed, in unions and arrays.
#include <stdio.h>
#include <string.h>

struct one { char c; };
struct two { int a; short b; };
struct coerced { long a; int b; };
struct floats { float x, y, z; };
struct mixed { double d; int i; };
struct big { int v[10]; char name[7]; };
struct __attribute__((packed)) packed { char c; long l; short s; };
union any { int i; double d; char bytes[12]; };
struct nested { struct two t[3]; union any u; struct packed p; };
typedef int int4 __attribute__((vector_size(16)));

#define NOINLINE __attribute__((noinline))
static NOINLINE struct one f1(struct one s) { s.c += 1; return s; }
static NOINLINE struct two f2(struct two s, int n) { s.a += n, s.b -= (short)n; return s; }
static NOINLINE struct coerced f3(struct coerced s) { return (struct coerced){s.b, (int)s.a}; }
static NOINLINE struct floats f4(struct floats s) { return (struct floats){s.z, s.x, s.y}; }
static NOINLINE struct mixed f5(struct mixed s) { return (struct mixed){s.i, (int)s.d}; }
static NOINLINE struct big f6(struct big s, int n) { s.v[n] = n * n, s.name[0] = 'Z'; return s; }
static NOINLINE struct nested f7(struct nested s) { s.t[1].a++, s.u.d *= 2, s.p.l--; return s; }
static NOINLINE int4 f8(int4 a, struct big b) { return a + b.v[3]; }
static NOINLINE _Complex double f9(_Complex double z) { return z * z + 1; }
static NOINLINE void swap(struct big *a, struct big *b) { struct big t = *a; *a = *b, *b = t; }

static struct nested table[] = {{.t = {{1, 2}, {3, 4}, {5, 6}}, .u.d = 1.5, .p = {'p', 77, -1}}, {.p.l = -5}};
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int cells[4] = {10, 20, 30, 40};
static const struct { const char *name; int (*f)(int); const int *where; } links[] = {{"twice", twice, cells + 1}, {"square", square, &cells[3]}, {0, 0, 0}};
static const char *const words[] = {"alpha", "beta", "gamma" + 2};
static long difference = (char *)&table[1] - (char *)&table[0];

int main(int argc, char **argv) {
  (void)argv;
  printf("%d\n", f1((struct one){(char)argc}).c);
  struct two t = f2((struct two){5, 6}, argc);
  struct coerced c = f3((struct coerced){argc, 9});
  struct floats fl = f4((struct floats){1.0f, 2.0f, (float)argc});
  struct mixed m = f5((struct mixed){3.5, argc});
  printf("%d %d %ld %d %d %d %d %d %d\n", t.a, t.b, c.a, c.b, (int)fl.x, (int)fl.y, (int)fl.z, (int)m.d, m.i);
  struct big b = {{1, 2, 3}, "name"}, b2 = f6(b, argc + 2);
  swap(&b, &b2);
  printf("%d %d %s %s %d\n", b.v[3], b2.v[3], b.name, b2.name, memcmp(&b, &b2, sizeof b) != 0);
  struct nested n = f7(table[0]);
  printf("%d %d %d %ld %d %d %d\n", n.t[1].a, table[0].t[1].a, (int)(n.u.d * 2), (long)n.p.l, n.p.s, n.p.c, (int)sizeof n);
  int4 v = f8((int4){1, 2, 3, argc}, b);
  printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]);
  _Complex double z = f9(2.0 + argc * 1.0i);
  printf("%d %d\n", (int)__real__ z, (int)__imag__ z);
  for (int i = 0; links[i].name; i++) printf("%s %d %d\n", links[i].name, links[i].f(argc + 4), *links[i].where);
  printf("%s %s %s %ld\n", words[0], words[1], words[argc + 1], difference == (long)sizeof(struct nested) ? 1l : 0l);
  union any u = {.d = 1.0};
  printf("%x %x\n", u.i, (unsigned)u.bytes[7]);
  struct nested array[3];
  memset(array, argc, sizeof array);
  array[argc] = table[0], array[2] = array[argc];
  printf("%d %d %x\n", array[2].t[2].b, array[0].t[0].b, (unsigned)array[0].u.i);
  return b.v[4];
}
