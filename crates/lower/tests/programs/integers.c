// Integer operators at every width C has, on values no compiler can fold.
#include <stdio.h>
#include <stdint.h>

static volatile uint64_t seed = 0x9e3779b97f4a7c15u;
static uint64_t next(void) {
  uint64_t x = seed;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return seed = x;
}
static void show(uint64_t x) { printf("%lx ", (unsigned long)x); }

#define OPS(T, U, BITS)                                                        \
  static void ops_##T(void) {                                                  \
    for (int i = 0; i < 6; i++) {                                              \
      T a = (T)next(), b = (T)next();                                          \
      U x = (U)a, y = (U)b;                                                    \
      if (i == 3) b = (T)i;                                                    \
      if (i == 4) y = (U)7;                                                    \
      show((U)(x + y)), show((U)(x - y)), show((U)(x * y));                    \
      if (y) show((U)(x / y)), show((U)(x % y));                               \
      if (b > 0) show((U)(a / b)), show((U)(a % b));                           \
      show((U)(x & y)), show((U)(x | y)), show((U)(x ^ y)), show((U)~x);       \
      show((U)(x << (y % BITS))), show((U)(x >> (y % BITS)));                  \
      show((U)(a >> (y % BITS)));                                              \
      printf("%d%d%d%d%d%d%d%d ", a < b, a <= b, a > b, a >= b, x < y, x <= y, \
             x > y, x == y);                                                   \
      T r;                                                                     \
      printf("%d", __builtin_add_overflow(a, b, &r)), show((U)r);              \
      printf("%d", __builtin_sub_overflow(a, b, &r)), show((U)r);              \
      printf("%d", __builtin_mul_overflow(a, b, &r)), show((U)r);              \
      U s;                                                                     \
      printf("%d", __builtin_add_overflow(x, y, &s)), show(s);                 \
      printf("%d", __builtin_sub_overflow(x, y, &s)), show(s);                 \
      printf("%d", __builtin_mul_overflow(x, y, &s)), show(s);                 \
      show((uint64_t)(int64_t)a), show((uint8_t)x), show((uint64_t)(int8_t)a); \
      printf("\n");                                                            \
    }                                                                          \
  }
OPS(int8_t, uint8_t, 8)
OPS(int16_t, uint16_t, 16)
OPS(int32_t, uint32_t, 32)
OPS(int64_t, uint64_t, 64)

static void bits(void) {
  for (int i = 0; i < 8; i++) {
    uint64_t x = next() >> (i * 7);
    uint32_t w = (uint32_t)x;
    show(__builtin_bswap16((uint16_t)x)), show(__builtin_bswap32(w)), show(__builtin_bswap64(x));
    show(__builtin_bitreverse8((uint8_t)x)), show(__builtin_bitreverse32(w)), show(__builtin_bitreverse64(x));
    printf("%d %d %d %d ", __builtin_popcount(w), __builtin_popcountll(x), w ? __builtin_clz(w) : -1, x ? __builtin_clzll(x) : -1);
    printf("%d %d %d %d ", w ? __builtin_ctz(w) : -1, x ? __builtin_ctzll(x) : -1, __builtin_ffs((int)w), __builtin_parity(w));
    show(__builtin_rotateleft32(w, x & 31)), show(__builtin_rotateright64(x, w & 63));
    show((w << (x & 31)) | (w >> (-x & 31)));
    show((uint64_t)__builtin_abs((int)w / 2)), show((uint64_t)__builtin_llabs((long long)x / 2));
    printf("\n");
  }
}

static void show128(unsigned __int128 x) { printf("%lx:%lx ", (unsigned long)(x >> 64), (unsigned long)x); }
static void wide(void) {
  for (int i = 0; i < 6; i++) {
    unsigned __int128 x = (unsigned __int128)next() << 64 | next(), y = (unsigned __int128)(next() >> (i * 9)) << 64 | next();
    __int128 a = (__int128)x, b = (__int128)y;
    show128(x + y), show128(x - y), show128(x * y), show128(x / y), show128(x % y);
    show128((unsigned __int128)(a / b)), show128((unsigned __int128)(a % b));
    show128(x << (y % 128)), show128(x >> (y % 128)), show128((unsigned __int128)(a >> (y % 128)));
    show128(x & y), show128(x | y), show128(x ^ y), show128(~x);
    printf("%d%d%d%d ", a < b, x < y, a <= b, x == y);
    show((uint64_t)(x >> 64)), show((uint64_t)((unsigned __int128)(uint64_t)x * (uint64_t)y >> 64));
    show((uint64_t)(__int128)(int64_t)x >> 3);
    __int128 r;
    printf("%d", __builtin_add_overflow(a, b, &r)), show128((unsigned __int128)r);
    printf("%d\n", __builtin_mul_overflow(x, y, &x));
  }
}

static void odd(void) {
  for (int i = 0; i < 5; i++) {
    unsigned _BitInt(37) x = (unsigned _BitInt(37))next(), y = (unsigned _BitInt(37))next();
    _BitInt(37) a = (_BitInt(37))x, b = (_BitInt(37))y;
    show((uint64_t)(x + y)), show((uint64_t)(x * y)), show((uint64_t)(y ? x / y : 0)), show((uint64_t)(a < b)), show((uint64_t)(int64_t)(a - b));
    show((uint64_t)(int64_t)(a >> 5)), show((uint64_t)(x << (i * 7)));
#if __BITINT_MAXWIDTH__ >= 256
    unsigned _BitInt(200) u = (unsigned _BitInt(200))next() << 130 | (unsigned _BitInt(200))next() << 60 | next();
    unsigned _BitInt(200) v = (unsigned _BitInt(200))next() << 70 | next();
    unsigned _BitInt(200) q = u / v, m = u % v, p = u * v + q, s = u >> 77;
    show((uint64_t)q), show((uint64_t)(q >> 64)), show((uint64_t)m), show((uint64_t)(p >> 140)), show((uint64_t)s), show(u < v);
#endif
    printf("\n");
  }
}

struct fields {
  unsigned a : 3;
  int b : 5;
  unsigned long c : 40;
  _Bool d : 1;
  int e : 20;
} f;
static void bitfields(void) {
  for (int i = 0; i < 4; i++) {
    f.a = (unsigned)next(), f.b = (int)(next() & 31) - 16, f.c = next(), f.d = next() & 1, f.e = (int)(next() & 0xfffff) - 0x80000;
    f.a++, f.b ^= 3, f.c += 77;
    printf("%u %d %lx %d %d\n", f.a, f.b, (unsigned long)f.c, f.d, f.e);
  }
}

static int logic(int a, int b, _Bool c) { return (a && b) + 2 * (a || b) + 4 * !a + 8 * (c != (a > b)) + 16 * (c ? a : b); }

int main(void) {
  ops_int8_t(), ops_int16_t(), ops_int32_t(), ops_int64_t();
  bits(), wide(), odd(), bitfields();
  for (int i = 0; i < 8; i++) printf("%d ", logic((int)(next() & 1), (int)(next() & 3), next() & 1));
  printf("\n");
  return (int)(next() & 63);
}
