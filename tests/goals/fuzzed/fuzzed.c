/* A small format: magic, length, key=value pairs, checksum. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int depth;

static int section(const unsigned char *p, size_t n) {
    if (n < 4) return -1;
    if (memcmp(p, "SECT", 4) != 0) return -2;
    size_t i = 4;
    while (i + 2 <= n) {
        unsigned tag = p[i], len = p[i + 1];
        if (i + 2 + len > n) return -3;
        switch (tag) {
        case 0x10:
            if (len == 4 && p[i + 2] == 'r' && p[i + 3] == 'e' && p[i + 4] == 'd' && p[i + 5] == '!') depth |= 1;
            break;
        case 0x77:
            if (len == 2 && (p[i + 2] << 8 | p[i + 3]) * 7 == 0x1e0d7) depth |= 2;
            break;
        case 0xe1: {
            unsigned sum = 0;
            for (unsigned k = 0; k < len; k++) sum = sum * 5 + p[i + 2 + k];
            if (len >= 3 && sum == 0x8f1) depth |= 4;
            break;
        }
        default: return -4;
        }
        if (depth == 7) abort();
        i += 2 + len;
    }
    return (int)i;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    depth = 0;
    if (size < 6 || data[0] != 0x89 || data[1] != 'W') return 0;
    unsigned n = data[2] | data[3] << 8;
    if (n != size - 6) return 0;
    unsigned char sum = 0;
    for (unsigned i = 0; i < n; i++) sum ^= data[6 + i];
    if (sum != data[4]) return 0;
    section(data + 6, n);
    return 0;
}

#ifdef MAIN
int main(void) {
    unsigned char buf[64];
    ssize_t n = read(0, buf, sizeof buf);
    return n < 0 ? 2 : LLVMFuzzerTestOneInput(buf, (size_t)n);
}
#endif
