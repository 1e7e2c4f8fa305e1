// Builtins of clang that are intrinsics, on scalars and vectors.
#include <stdint.h>
#include <stdio.h>

typedef int i4 __attribute__((ext_vector_type(4)));
typedef unsigned u4 __attribute__((ext_vector_type(4)));
typedef short s8 __attribute__((ext_vector_type(8)));
typedef float f4 __attribute__((ext_vector_type(4)));

static volatile int v[] = {1, -2, 0x7fffffff, (int)0x80000000, 17, 0};
static volatile float g[] = {1.5f, -2.5f, 0.0f, -0.0f, 3e9f, 1e20f, -7.9f};
static void show(i4 x) { printf("%d %d %d %d\n", x[0], x[1], x[2], x[3]); }

__attribute__((noinline)) static unsigned clamp(int x) { return x < 0 ? 0u : x > 255 ? 255u : (unsigned)x; }
__attribute__((noinline)) static int unlikely(int *p, int n) {
  __builtin_assume(n > 0);
  __builtin_prefetch(p);
  if (__builtin_expect(*p == 3, 0)) return n;
  if (__builtin_constant_p(n)) return 4;
  return (int)(__builtin_object_size(p, 0) + 1) + 2 * (int)__builtin_object_size(p, 2);
}
__attribute__((noinline)) static int stops(int x) {
  if (x > 100) __builtin_trap();
  if (x > 50) __builtin_unreachable();
  return x;
}
__attribute__((noinline)) static unsigned long aligned(unsigned long x) { return (unsigned long)__builtin_align_down((char *)x, 16) + __builtin_align_up(x, 32); }
__attribute__((noinline)) static long assembly(long x) {
  long y = 5;
  __asm__ volatile("" ::: "memory");
  __asm__("" : "+r"(x));
  __asm__ volatile("nop");
  __asm__("" : "=r"(y) : "0"(x));
  __asm__ volatile("pause" : "+m"(y));
  return x + y;
}
static float half(float x) { return x * 0.5f; }

int main(int argc, char **argv) {
  (void)argv;
  i4 a = {v[0], v[1], v[2], v[3]}, b = {v[4], v[4], v[0], v[1]};
  show(__builtin_elementwise_max(a, b)), show(__builtin_elementwise_min(a, b));
  show((i4)__builtin_elementwise_max((u4)a, (u4)b));
#if __clang_major__ >= 16
  show(__builtin_elementwise_add_sat(a, b)), show(__builtin_elementwise_sub_sat(a, b));
  show((i4)__builtin_elementwise_add_sat((u4)a, (u4)b)), show((i4)__builtin_elementwise_sub_sat((u4)a, (u4)b));
#endif
#if __clang_major__ >= 20
  show((i4)__builtin_elementwise_popcount(a)), show((i4)__builtin_elementwise_bitreverse(a));
#endif
  show(__builtin_elementwise_abs(a / 2));
#if __clang_major__ >= 15
  printf("%d %d %d %d %d\n", __builtin_reduce_max(a), __builtin_reduce_min(a), __builtin_reduce_xor(a), __builtin_reduce_or(a), __builtin_reduce_and(a | 1));
  printf("%d %d\n", (int)__builtin_reduce_add((u4)a), (int)__builtin_reduce_mul((u4)b));
#endif
  for (unsigned i = 0; i < 6; i++) printf("%u %d ", clamp(v[i]), (v[i] > v[5]) - (v[i] < v[5]));
  printf("\n");
  f4 f = {g[0], g[1], g[2], g[3]};
  f4 h = __builtin_elementwise_abs(f) + __builtin_elementwise_ceil(f) * 3;
  printf("%d %d %d %d\n", (int)h[0], (int)h[1], (int)h[2], (int)h[3]);
  int cell = argc + 1;
  printf("%d %d %d %d\n", unlikely(&cell, 6), stops(argc + 3), (int)aligned(77 * (unsigned long)argc), (int)assembly(argc));
  printf("%d %d %d\n", (int)half(g[0] * 8), __builtin_classify_type(1) != 99, (int)__builtin_bswap32(0x01000000u * (unsigned)argc));
  unsigned carry = 0, sum = __builtin_addc((unsigned)v[3], 0x80000001u, 0, &carry);
  printf("%u %u\n", sum, carry);
  s8 s = {1, -2, 3, -4, 5, -6, 7, (short)argc};
  s = __builtin_elementwise_max(s, (s8)(short)0) << (s8)1;
  int total = 0;
  for (int i = 0; i < 8; i++) total = total * 5 + s[i];
  printf("%d\n", total);
  return 3;
}
