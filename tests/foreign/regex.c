#include <regex.h>
#include <stdio.h>
int main(void) {
    regex_t r;
    regmatch_t m[3];
    if (regcomp(&r, "([a-z]+)@([a-z.]+)", REG_EXTENDED)) return 1;
    const char *texts[] = {"mail to user@example.org now", "nobody", "x@y"};
    for (int i = 0; i < 3; i++) {
        int none = regexec(&r, texts[i], 3, m, 0);
        printf("%d", none);
        for (int j = 0; j < 3 && !none; j++) printf(" %d-%d", (int)m[j].rm_so, (int)m[j].rm_eo);
        puts("");
    }
    regfree(&r);
    char error[60];
    regerror(regcomp(&r, "a[", 0), &r, error, sizeof error);
    printf("%d\n", error[0] != 0);
    return 0;
}
