#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(void) {
    int n[50];
    for (int i = 0; i < 50; i++) n[i] = (i * 7919) % 101;
    qsort(n, 50, sizeof *n, by_number);
    for (int i = 0; i < 50; i++) printf("%d ", n[i]);
    char *words[] = {"pear", "apple", "fig", "quince", "banana", "cherry"};
    qsort(words, 6, sizeof *words, by_text);
    for (int i = 0; i < 6; i++) printf("%s ", words[i]);
    int key = n[20];
    int *found = bsearch(&key, n, 50, sizeof *n, by_number);
    printf("%d\n", found ? *found : -1);
    return 0;
}
