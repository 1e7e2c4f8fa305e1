//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
//@ paths: 5
// Arithmetic in inline assembly, as big-number code and `factor` have it, is what the same arithmetic is in C.
#include <assert.h>
#include <stdint.h>
#include <unistd.h>

typedef unsigned __int128 wide;

static void check(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t high, low, count, rest;
  uint32_t half;
  __asm__("addq %5,%q1\n\tadcq %3,%q0" : "=r"(high), "=&r"(low) : "0"(a), "rme"(b), "%1"(c), "rme"(d));
  wide sum = ((wide)a << 64 | c) + ((wide)b << 64 | d);
  assert(high == (uint64_t)(sum >> 64) && low == (uint64_t)sum);
  __asm__("subq %5,%q1\n\tsbbq %3,%q0" : "=r"(high), "=&r"(low) : "0"(a), "rme"(b), "1"(c), "rme"(d));
  wide difference = ((wide)a << 64 | c) - ((wide)b << 64 | d);
  assert(high == (uint64_t)(difference >> 64) && low == (uint64_t)difference);
  __asm__("mulq\t%3" : "=a"(low), "=d"(high) : "%0"(a), "rm"(b));
  assert(high == (uint64_t)((wide)a * b >> 64) && low == a * b);
  if (c < b) {
    __asm__("divq %4" : "=a"(low), "=d"(rest) : "0"(a), "1"(c), "rm"(b));
    wide dividend = (wide)c << 64 | a;
    assert(low == (uint64_t)(dividend / b) && rest == dividend % b);
  }
  if (a) {
    __asm__("bsf\t%1, %q0" : "=r"(count) : "rm"(a));
    assert(count == (uint64_t)__builtin_ctzll(a));
    __asm__("rep;bsf\t%1, %q0" : "=r"(count) : "rm"(a));
    assert(count == (uint64_t)__builtin_ctzll(a));
    __asm__("bsr\t%1,%0" : "=r"(count) : "rm"(a));
    assert((count ^ 63) == (uint64_t)__builtin_clzll(a));
  }
  half = (uint32_t)d;
  __asm__("roll $5, %0" : "+r"(half));
  assert(half == ((uint32_t)d << 5 | (uint32_t)d >> 27));
  __asm__("bswap %0\n\tnotl %0" : "+r"(half));
  assert(half == ~__builtin_bswap32((uint32_t)d << 5 | (uint32_t)d >> 27));
  uint64_t one = a, other = c;
  __asm__("xchgq %0, %1\n\taddq $-3, %0; incq %1" : "+r"(one), "+r"(other));
  assert(one == c - 3 && other == a + 1);
  __asm__("shlq %%cl, %0\n\tsarq $7, %1" : "+r"(one), "+r"(other) : "c"((int)(c + 60)));
  assert(one == (c - 3) << ((c + 60) & 63) && other == (uint64_t)((int64_t)(a + 1) >> 7));
  __asm__("rorq %%cl, %0\n\timulq $-5, %0, %1" : "+r"(one), "=r"(other) : "c"(9ull));
  uint64_t turned = (c - 3) << ((c + 60) & 63);
  turned = turned >> 9 | turned << 55;
  assert(one == turned && other == turned * -5);
  // A step leaves the carry of the addition before it.
  __asm__("addl %2, %0; decl %0; adcq $0, %1" : "+r"(half), "=r"(count) : "r"((uint32_t)a), "1"(0ull));
  half = ~__builtin_bswap32((uint32_t)d << 5 | (uint32_t)d >> 27);
  assert(count == (uint64_t)half + (uint32_t)a >> 32);
  // An operand that is tied to another is the same register.
  __asm__("addq %2, %0\n\tmovq %3, %1" : "=r"(one), "=r"(other) : "r"(b), "0"(a));
  assert(one == a + b && other == one);
  // 32 bits clear the upper half.
  count = d;
  __asm__("addl %k1, %k0" : "+r"(count) : "r"(c));
  assert(count == (uint32_t)((uint32_t)d + (uint32_t)c));
}

int main(void) {
  unsigned char in[2];
  if (read(0, in, sizeof in) != sizeof in) return 1;
  if (in[1] > 2) return 2;
  uint64_t numbers[3] = {1, 0xfedcba9876543210, 0x8000000000000001};
  check((uint64_t)in[0] << 56 | 1, numbers[in[1]], 1, ~0ull - in[0]);
  check(in[0], 7, in[1], ~(uint64_t)in[0]);
  return 0;
}
