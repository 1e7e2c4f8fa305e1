//@ words: --sym-stdin 32
//@ find: output:Well done
//@ avoid: output:No.
// Every byte is right or wrong for itself, and only the count of right ones is looked at: a loop that forks into 2^32 paths.
#include <stdio.h>
#include <unistd.h>

static const char secret[33] = "the count of right ones is all !";

int main(void) {
    char buf[32];
    if (read(0, buf, sizeof buf) != sizeof buf) return 2;
    int right = 0;
    for (int i = 0; i < 32; i++)
        if (buf[i] == secret[i]) right++;
    puts(right == 32 ? "Well done" : "No.");
    return 0;
}
