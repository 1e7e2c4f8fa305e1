// Quotients and remainders by constants, of which compilers make products. With -DALL it prints how all inputs end.
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#define TEST(type, d)                                       \
  {                                                         \
    type x = (type)in, q = x / (type)(d), r = x % (type)(d); \
    if ((type)(q * (type)(d) + r) != x) return 200;         \
    sum = sum * 3 + (r == (type)1) + (q % 3 == 2);          \
  }
static int of(unsigned char a, unsigned char b) {
  uint64_t in = a * 0x0101010101010101u + b * 0xff00ff00ff00f1u;
  unsigned sum = 0;
  switch (a & 7) {
    case 0: TEST(uint32_t, 10) TEST(uint32_t, 7) break;
    case 1: TEST(int32_t, 10) TEST(int32_t, 7) break;
    case 2: TEST(int32_t, -7) TEST(int32_t, 641) break;
    case 3: TEST(uint64_t, 10) TEST(uint64_t, 7) break;
    case 4: TEST(int64_t, 3600) TEST(int64_t, -10) break;
    case 5: TEST(int16_t, 7) TEST(uint16_t, 10) break;
    case 6: TEST(uint64_t, 1000000007) TEST(int64_t, 24) break;
    default: TEST(uint32_t, 65537) TEST(int32_t, 100) break;
  }
  return sum % 100 + (a & 7) * 10;
}
int main(void) {
#ifdef ALL
  char seen[256] = {0};
  for (int i = 0; i < 65536; i++) seen[of(i, i >> 8)] = 1;
  for (int i = 0; i < 256; i++) if (seen[i]) printf("exit %d\n", i);
  return 0;
#else
  unsigned char b[2] = {0};
  if (read(0, b, 2) != 2) return 1;
  return of(b[0], b[1]);
#endif
}
