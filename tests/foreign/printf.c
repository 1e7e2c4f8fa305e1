#include <stdio.h>
#include <string.h>
int main(void) {
    char line[200];
    int n = snprintf(line, sizeof line, "%5d|%-8s|%08.3f|%#x|%+d|%c|%lld|%e|%g", 42, "left", 3.14159, 255, 7, 'z', -1234567890123LL, 12345.678, 0.0001);
    printf("%s %d\n", line, n);
    printf("%.*s %s %p %%\n", 3, "abcdef", (char *)"x", (void *)0);
    printf("%zu %hhd %hd %ld %u\n", sizeof line, (char)300, (short)70000, -5L, 4000000000u);
    int a, b;
    char word[20];
    n = sscanf("17 0x1f word 3.5", "%d %i %19s", &a, &b, word);
    printf("%d %d %d %s\n", n, a, b, word);
    fprintf(stderr, "an error line\n");
    return (int)strlen(line) & 127;
}
