//@ words: --sym-stdin 20
//@ find: machine.c:37
// A small machine runs the input as its program; the flag is behind a certain state of its registers.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(const unsigned char *code, int n, int *r) {
    for (int pc = 0, steps = 0; pc + 1 < n && steps < 40; pc += 2, steps++) {
        int op = code[pc] >> 4, reg = code[pc] & 3, value = code[pc + 1];
        switch (op) {
        case 1: r[reg] = value; break;
        case 2: r[reg] += value; break;
        case 3: r[reg] *= r[(reg + 1) & 3]; break;
        case 4: r[reg] ^= r[value & 3]; break;
        case 5:
            if (r[reg] != value) return 0;
            break;
        case 15: return 1;
        default: return 0;
        }
    }
    return 0;
}

int main(void) {
    unsigned char code[20];
    int r[4] = {1, 2, 3, 5};
    int n = (int)read(0, code, sizeof code);
    if (!run(code, n, r)) {
        puts("halted badly");
        return 1;
    }
    if (r[0] == 0x2a && r[1] == 0x539) {
        puts("a good start");
        if (r[2] == r[0] + r[1])
            puts("Well done");
    }
    return 0;
}
