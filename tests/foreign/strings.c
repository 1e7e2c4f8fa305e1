#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    char a[64] = "the quick brown fox", b[64];
    printf("%zu %zu %s\n", strlen(a), strlen(argv[0]) > 0 ? strlen(a + 3) : 0, strchr(a, 'q'));
    printf("%s %s %s\n", strrchr(a, 'o'), strstr(a, "brown"), strpbrk(a, "xyz"));
    strcpy(b, a), strcat(b, " jumps"), strncat(b, " over", 3);
    printf("%s %d %d %d\n", b, strcmp(a, b) < 0, strncmp(a, b, 10), strcasecmp("ABC", "abd") < 0);
    printf("%zu %zu\n", strspn(a, "the "), strcspn(a, "q"));
    for (char *t = strtok(b, " "); t; t = strtok(0, " ")) printf("[%s]", t);
    memmove(a + 2, a, 10);
    printf("\n%.12s %d %p\n", a, memcmp(a, "ththe", 5), memchr(a, '!', 10));
    char *copy = strdup(a), *end = stpcpy(b, "end");
    printf("%s %d %zu %d%d%d\n", copy, (int)(end - b), strnlen(copy, 5), isalpha('x') != 0, isdigit('x') != 0, toupper('x'));
    for (int shift = 0; shift < 40; shift++) {
        char *p = malloc(41 - shift);
        memset(p, 'y', 40 - shift), p[40 - shift] = 0;
        if (strlen(p) != (size_t)(40 - shift) || strchr(p, 'n') || memrchr(p, 'n', 40 - shift) || strrchr(p, 'n')) return 1;
        free(p);
    }
    free(copy);
    return 0;
}
