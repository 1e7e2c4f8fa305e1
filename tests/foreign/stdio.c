#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    FILE *f = fopen("foreign.tmp", "w+");
    if (!f) return 1;
    for (int i = 0; i < 20; i++) fprintf(f, "line %d\n", i);
    fseek(f, 7, SEEK_SET);
    char line[40];
    int lines = 0;
    while (fgets(line, sizeof line, f)) lines++;
    printf("%d %ld %d\n", lines, ftell(f), feof(f) != 0);
    rewind(f);
    size_t n = fread(line, 1, 10, f);
    ungetc('!', f);
    printf("%zu %c %c\n", n, getc(f), getc(f));
    fclose(f);
    f = fopen("foreign.tmp", "a");
    fputs("more\n", f), fputc('x', f);
    fclose(f);
    f = fopen("foreign.tmp", "rb");
    fseek(f, -3, SEEK_END);
    printf("%s %ld\n", fgets(line, sizeof line, f), ftell(f));
    fclose(f);
    remove("foreign.tmp");
    printf("%d\n", fopen("foreign.tmp", "r") == 0);
    setvbuf(stdout, 0, _IONBF, 0);
    puts("the end");
    return 0;
}
