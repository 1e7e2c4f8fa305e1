//@ words: --sym-env TOKEN:12 --sym-arg 3
//@ find: opened
// The environment and an argument must fit each other.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void opened(void) { puts("Well done"); }

int main(int argc, char **argv) {
    const char *token = getenv("TOKEN");
    if (!token || argc != 2) return 2;
    size_t n = strlen(token);
    if (n != 12 || strlen(argv[1]) != 3) return 1;
    char mixed[13];
    for (size_t i = 0; i < n; i++) mixed[i] = (char)(token[i] ^ (argv[1][i % 3] & 0x1f));
    mixed[12] = 0;
    if (argv[1][0] >= 'a' && argv[1][1] >= 'a' && argv[1][2] >= 'a' && memcmp(mixed, "open-sesame!", 12) == 0) opened();
    return 0;
}
