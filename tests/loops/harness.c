// The frame of the loops in `loops.txt` (`cargo xtask gate loops`). `E` is the type of elements, `LOOP` the body of a function on arrays `a`, `b`
// and `c` of `n` elements, indices `k`, a shift `s`, a scalar `x` and an integer result `r`. What comes out is printed as a hash of
// all bytes, so that every bit counts.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 83
typedef E element;
static element a[N + 16], b[N + 16], c[N + 16];
static uint32_t k[N + 16];
static unsigned char text[N + 16];
static uint32_t state;

static uint32_t next(void) { return (state = state * 1103515245u + 12345u) >> 8; }

__attribute__((noinline, noclone)) static int64_t run(element *restrict a, element *restrict b, element *restrict c, uint32_t *restrict k, int n, int s, element x) {
    int64_t r = 0;
    LOOP
    return r;
}

static uint64_t hash(const void *from, size_t size, uint64_t h) {
    const unsigned char *p = from;
    for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 1099511628211u;
    return h;
}

static void fill(element *e, int whole) {
    memset(e, 0, sizeof a);
    // Floats are multiples of an eighth, so that sums are exact in any order; integers have all their bits.
    for (int i = 0; i < N + 16; i++) e[i] = whole ? (element)((uint64_t)next() << 32 | next() << 9 | next()) : (element)((int)(next() % 2001) - 1000) / 8;
}

int main(int argc, char **argv) {
    int whole = (element)0.5 == 0;
    for (int round = 0; round < 3; round++) {
        state = 77u * (unsigned)argc + 1000u * (unsigned)round;
        fill(a, whole), fill(b, whole), fill(c, whole);
        for (int i = 0; i < N + 16; i++) k[i] = next() % N, text[i] = (unsigned char)(32 + next() % 90);
        int n = N - (int)(next() % 9);
        int64_t r = run(a, b, c, k, n, (int)(next() % 7) + 1, a[3]);
        uint64_t h = 14695981039346656037u;
        // Padding of long doubles is not looked at.
        size_t size = sizeof(element) == 16 ? 10 : sizeof(element);
        for (int i = 0; i < N + 16; i++) h = hash(a + i, size, hash(b + i, size, hash(c + i, size, h)));
        printf("%016llx %lld\n", (unsigned long long)hash(k, sizeof k, h), (long long)r);
    }
    return 0;
}
