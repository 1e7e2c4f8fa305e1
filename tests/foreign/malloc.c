#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; int value; };
int main(void) {
    struct node *list = 0;
    for (int i = 0; i < 100; i++) {
        struct node *n = malloc(sizeof *n);
        n->next = list, n->value = i, list = n;
    }
    long sum = 0;
    while (list) {
        struct node *next = list->next;
        sum += list->value;
        free(list);
        list = next;
    }
    char *text = malloc(5);
    strcpy(text, "abcd");
    text = realloc(text, 5000);
    memset(text + 4, 'x', 4990);
    text[4994] = 0;
    char *zero = calloc(300, 3), *large = malloc(300000), *aligned = aligned_alloc(64, 128);
    memset(large, 1, 300000);
    printf("%ld %zu %d %d %d\n", sum, strlen(text), zero[899], large[299999], (int)((unsigned long)aligned % 64));
    free(text), free(zero), free(large), free(aligned), free(0);
    return 0;
}
