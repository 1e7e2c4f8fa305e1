//@ words: --sym-stdin 40
//@ find: output:Well done
// Commands in lines: a list is built, and one sequence of pushes and pops leaves the wanted numbers on it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
};

int main(void) {
    struct node *top = NULL;
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "push ", 5) == 0 && line[5] >= '0' && line[5] <= '9') {
            struct node *n = malloc(sizeof *n);
            if (!n) return 2;
            n->value = line[5] - '0';
            n->next = top;
            top = n;
        } else if (strcmp(line, "add") == 0 && top && top->next) {
            struct node *old = top;
            top->next->value += top->value;
            top = top->next;
            free(old);
        } else {
            puts("what?");
            return 1;
        }
    }
    if (top && top->value == 16 && !top->next) puts("Well done");
    return 0;
}
