//@ words: --sym-file licence:16
//@ find: output:Well done
// A licence file: a mark, a length, a sum over the rest.
#include <stdio.h>
#include <string.h>

int main(void) {
    unsigned char buf[16];
    FILE *f = fopen("licence", "rb");
    if (!f) return 2;
    size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    if (n < 8 || memcmp(buf, "LIC1", 4) != 0) {
        puts("no licence");
        return 1;
    }
    unsigned len = buf[4], sum = 0;
    if (len != n - 6) return 1;
    for (unsigned i = 0; i < len; i++) sum = sum * 31 + buf[6 + i];
    if ((sum & 0xff) != buf[5] || (sum & 0xff) != 0x42) {
        puts("No.");
        return 1;
    }
    puts("Well done");
    return 0;
}
