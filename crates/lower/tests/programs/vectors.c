// Vectors: written as such, and made from loops.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int32_t i4 __attribute__((ext_vector_type(4)));
typedef uint8_t b16 __attribute__((vector_size(16)));
typedef int16_t s8 __attribute__((vector_size(16)));
typedef int64_t l2 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));
typedef double d2 __attribute__((vector_size(16)));
typedef int32_t i3 __attribute__((ext_vector_type(3)));

static int n = 37;
static int a[64], b[64], c[64];
static uint8_t bytes[128], other[128];
static float fs[64];
static double ds[64];

static void show4(i4 v) { printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]); }
__attribute__((noinline)) static i4 arithmetic(i4 x, i4 y) { return (x + y) * (x - y) ^ (x & y) ^ (x | ~y) ^ (x << 3) ^ (y >> 1); }
__attribute__((noinline)) static i4 compare(i4 x, i4 y) { return (x < y) + (x == y) * 2 + ((x > y) & 4); }
__attribute__((noinline)) static i4 choose(i4 x, i4 y) { return (x > y) ? x : y; }
__attribute__((noinline)) static b16 shuffle(b16 x, b16 y) { return __builtin_shufflevector(x, y, 0, 16, 1, 17, 31, 15, 2, 2, 5, 4, 20, 21, 9, 8, 7, 30); }
__attribute__((noinline)) static int pick(i4 x, int i) { return x[i & 3]; }
__attribute__((noinline)) static i4 put(i4 x, int i, int v) { x[i & 3] = v; return x; }
__attribute__((noinline)) static l2 cast(i4 x) { return (l2)x; }
__attribute__((noinline)) static s8 narrow(b16 x) { return (s8)x; }
__attribute__((noinline)) static f4 convert(i4 x) { return __builtin_convertvector(x, f4); }
__attribute__((noinline)) static d2 doubles(d2 x, d2 y) { return x * y + x / y; }
__attribute__((noinline)) static i3 triple(i3 x) { return x.zyx + 1; }

static void loops(void) {
  for (int i = 0; i < n; i++) a[i] = i * 7 - 50, b[i] = (i * 13) % 29;
  for (int i = 0; i < n; i++) c[i] = a[i] > b[i] ? a[i] - b[i] : b[i] * 2;
  int sum = 0, most = -1000, least = 1000, any = 0;
  unsigned all = ~0u;
  for (int i = 0; i < n; i++) sum += c[i], most = c[i] > most ? c[i] : most, least = c[i] < least ? c[i] : least, any |= c[i], all &= (unsigned)c[i];
  printf("%d %d %d %x %x\n", sum, most, least, any, all);
  for (int i = 0; i < 128; i++) bytes[i] = (uint8_t)(i * 37), other[i] = (uint8_t)(255 - i);
  unsigned difference = 0, product = 0;
  for (int i = 0; i < 128; i++) difference += bytes[i] > other[i] ? bytes[i] - other[i] : other[i] - bytes[i];
  for (int i = 0; i < 128; i++) product += (unsigned)(bytes[i] * other[i]);
  for (int i = 0; i < 128; i++) bytes[i] = (uint8_t)((bytes[i] + other[127 - i] + 1) >> 1);
  uint64_t hash = 0;
  for (int i = 0; i < 128; i++) hash = hash * 31 + bytes[i];
  printf("%u %u %lx\n", difference, product, (unsigned long)hash);
  for (int i = 0; i < 64; i++) fs[i] = (float)i * 0.25f, ds[i] = (double)(i * i);
  for (int i = 0; i < n; i++) fs[i] = fs[i] * 2.0f + 1.0f, ds[i] -= (double)fs[i];
  for (int i = 0; i < n; i++) c[i] = (int)ds[i] + (int)fs[i] + __builtin_popcount((unsigned)a[i]);
  sum = 0;
  for (int i = 0; i < n; i++) sum += c[i] * b[n - 1 - i];
  int found = -1;
  for (int i = 0; i < n; i++) if (b[i] == 24) found = i;
  printf("%d %d %d\n", sum, found, (int)fs[11]);
}

int main(int argc, char **argv) {
  (void)argv;
  i4 x = {argc, 2, -3, 1 << 20}, y = {4, argc * 2, 6, -7};
  show4(arithmetic(x, y)), show4(compare(x, y)), show4(choose(x, y)), show4(put(x, argc, 99)), printf("%d\n", pick(y, argc + 1));
  b16 p, q;
  for (int i = 0; i < 16; i++) p[i] = (uint8_t)(i * argc), q[i] = (uint8_t)(100 + i);
  p = shuffle(p, q);
  for (int i = 0; i < 16; i++) printf("%d ", p[i]);
  s8 s = narrow(p);
  l2 l = cast(x);
  f4 f = convert(x);
  d2 d = doubles((d2){1.5, argc}, (d2){3.0, 4.0});
  i3 t = triple((i3){1, 2, argc});
  printf("%d %d %lx %lx %d %d %d %d %d%d%d\n", s[0], s[7], (long)l[0], (long)l[1], (int)f[2], (int)f[3], (int)(d[0] * 8), (int)(d[1] * 8), t[0], t[1], t[2]);
  loops();
  return 0;
}
