//@ words: --sym-stdin 24
//@ find: output:Well done
//@ avoid: wrong
// Two words, each compared whole with a constant.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wrong(void) {
    puts("No.");
    exit(1);
}

int main(void) {
    char first[12], second[12];
    if (scanf("%11s %11s", first, second) != 2) wrong();
    if (strcmp(first, "MARMALADE") != 0) wrong();
    if (strncmp(second, "on-toast", 8) != 0) wrong();
    puts("Well done");
    return 0;
}
