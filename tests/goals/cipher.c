//@ words: --sym-arg 8
//@ find: output:Well done
// Each letter is moved by a number of its own before the whole is compared.
#include <stdio.h>
#include <string.h>

static char moved(char c, int by) {
    if (c < 'A' || c > 'Z') return '?';
    return (char)((c - 'A' + by * 7) % 26 + 'A');
}

int main(int argc, char **argv) {
    if (argc != 2 || strlen(argv[1]) != 8) return 2;
    char out[9];
    for (int i = 0; i < 8; i++) out[i] = moved(argv[1][i], i + 3);
    out[8] = 0;
    if (strcmp(out, "QXWDAHNU") != 0) {
        puts("No.");
        return 1;
    }
    puts("Well done");
    return 0;
}
