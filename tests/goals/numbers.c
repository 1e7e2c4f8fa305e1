//@ words: --sym-stdin 26
//@ find: output:Well done
// Three numbers in hexadecimal, each through its own function of shifts and products.
#include <stdio.h>

static unsigned one(unsigned x) { return (x ^ 0x5bd1e995u) * 33u; }
static unsigned two(unsigned x) { return ((x << 7) | (x >> 25)) + 0x1234567u; }
static unsigned three(unsigned x) { return (x ^ (x >> 16)) - 77u; }

int main(void) {
    unsigned a, b, c;
    if (scanf("%x %x %x", &a, &b, &c) != 3) {
        puts("three numbers");
        return 2;
    }
    if (one(a) == 0x0c0ffee1u && two(b) == 0x0badcafeu && three(c) == 0x0defacedu) puts("Well done");
    else puts("No.");
    return 0;
}
