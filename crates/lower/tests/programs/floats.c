// Floats of every format, their conversions and the functions that are instructions.
#include <stdio.h>
#include <stdint.h>
#include <string.h>

static volatile double values[] = {0.0, -0.0, 1.0, -1.5, 3.75, 1e-310, 1e300, -2.5e9, 0.1, 4.5, 5.5, -0.5, 123456789.125};
static volatile double inf = __builtin_inf(), nan_ = __builtin_nan("");
enum { N = sizeof values / sizeof *values };

static void bits64(double d) {
  uint64_t u;
  memcpy(&u, &d, 8);
  // The sign and payload of a NaN that an operation makes are the compiler's choice.
  printf("%lx ", d != d ? 0x7ff8ul : (unsigned long)u);
}
static void bits32(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  printf("%x ", f != f ? 0x7fc0u : u);
}
static void bits80(long double l) {
  uint64_t u[2] = {0, 0};
  memcpy(u, &l, 10);
  printf("%lx:%lx ", l != l ? 0x7ffful : (unsigned long)(u[1] & 0xffff), l != l ? 0ul : (unsigned long)u[0]);
}

static void doubles(double a, double b) {
  bits64(a + b), bits64(a - b), bits64(a * b), bits64(a / b), bits64(-a);
  bits32((float)a + (float)b), bits32((float)a * (float)b), bits32((float)a / (float)b), bits32(-(float)a);
  bits80((long double)a + b), bits80((long double)a * b), bits80((long double)a / b), bits80(-(long double)a);
  printf("%d%d%d%d%d%d%d ", a < b, a <= b, a == b, a != b, a > b, a >= b, __builtin_isunordered(a, b));
  printf("%d%d%d ", (float)a < (float)b, (long double)a < b, __builtin_islessgreater(a, b));
  printf("\n");
}
static void one(double a) {
  bits64(__builtin_fabs(a)), bits64(__builtin_sqrt(__builtin_fabs(a))), bits64(__builtin_floor(a)), bits64(__builtin_ceil(a));
  bits64(__builtin_trunc(a)), bits64(__builtin_rint(a)), bits64(__builtin_nearbyint(a)), bits64(__builtin_round(a));
  bits64(__builtin_copysign(3.0, a)), bits64(__builtin_copysign(a, -1.0)), bits32(__builtin_fabsf((float)a)), bits32(__builtin_floorf((float)a));
  bits64(__builtin_fmin(a, 2.0)), bits64(__builtin_fmax(a, 2.0)), bits64(__builtin_fma(a, a, 1.0));
  bits32((float)a), bits80((long double)a), bits64((double)(float)a), bits64((double)(long double)a), bits80((long double)(float)a);
  if (a > -2e9 && a < 2e9) printf("%d %ld %d ", (int)a, (long)a, (short)(int)a);
  if (a >= 0 && a < 4e9) printf("%u %lu ", (unsigned)a, (unsigned long)a);
  if (a > -9e18 && a < 9e18) printf("%ld %ld %ld ", __builtin_lround(a), __builtin_lrint(a), (long)(long double)a);
  printf("%d%d%d%d ", __builtin_isnan(a) != 0, __builtin_isinf(a) != 0, __builtin_isfinite(a) != 0, __builtin_isnormal(a) != 0);
  printf("%d %d\n", __builtin_signbit(a) != 0, __builtin_fpclassify(0, 1, 2, 3, 4, a));
}
static void from_integers(long s, unsigned long u) {
  bits64((double)s), bits64((double)u), bits32((float)s), bits32((float)u), bits80((long double)s), bits80((long double)u);
  bits64((double)(int)s), bits64((double)(unsigned)u), bits32((float)(short)s), bits64((double)(unsigned char)u), bits64((_Bool)s);
  bits64((double)(__int128)s * 3), bits64((double)((unsigned __int128)u << 60));
  printf("\n");
}
#if __clang_major__ >= 16
static void halves(double a) {
  _Float16 h = (_Float16)a, k = h * h + (_Float16)1.5f;
  uint16_t u;
  memcpy(&u, &h, 2);
  printf("%x ", h != h ? 0x7e00u : u);
  memcpy(&u, &k, 2);
  printf("%x %d ", k != k ? 0x7e00u : u, h < k), bits64((double)h), bits32((float)k);
  printf("\n");
}
#endif
static long double area[3] = {1.25L, -7.5L, 0};
struct mixed { char c; long double l; float f; } mixed = {'m', 2.5L, 0.5f};

int main(void) {
  for (int i = 0; i < N; i++) {
    one(values[i]);
    for (int j = 0; j < N; j += 2) doubles(values[i], values[j]);
#if __clang_major__ >= 16
    halves(values[i]);
#endif
  }
  one(inf), one(-inf), one(nan_), doubles(inf, nan_), doubles(inf, -inf), doubles(nan_, 1.0);
  volatile long s = -123456789012345;
  volatile unsigned long u = 0xfedcba9876543210;
  from_integers(s, u), from_integers(1, 2), from_integers((1l << 53) + 1, (1ul << 63) + 1025);
  area[2] = area[0] * area[1] + mixed.l;
  bits80(area[2]), bits80(mixed.l), bits32(mixed.f), printf("%c %d\n", mixed.c, (int)sizeof mixed);
  double sum = 0;
  for (int i = 0; i < 100; i++) sum += 1.0 / (i + 1);
  float fsum = 0;
  for (int i = 0; i < 100; i++) fsum = fsum * 0.5f + (float)i;
  bits64(sum), bits32(fsum), printf("\n");
  return sum > 5.18 && sum < 5.19;
}
