// The heap: frees that come twice, or too early.
#include <stdlib.h>

struct buffer { char *data; unsigned size; int owned; struct buffer *next; };

void bad_double_free(struct buffer *b, int error) {
    free(b->data);
    if (error < 0)
        free(b->data); //~ double-free
    b->size = 0;
}
void good_double_free(struct buffer *b, int error) {
    free(b->data);
    b->data = NULL;
    if (error < 0)
        free(b->data);
    b->size = 0;
}

unsigned bad_use_after_free(struct buffer *b) {
    free(b);
    return b->size; //~ use-after-free
}
unsigned good_use_after_free(struct buffer *b) {
    unsigned size = b->size;
    free(b);
    return size;
}

void bad_free_list(struct buffer *b) {
    while (b) {
        free(b);
        b = b->next; //~ use-after-free
    }
}
void good_free_list(struct buffer *b) {
    while (b) {
        struct buffer *next = b->next;
        free(b);
        b = next;
    }
}

int bad_free_inside(int n) {
    char *p = malloc(8);
    if (!p)
        return 0;
    if (n == 4)
        p += n;
    free(p); //~ invalid-free
    return 1;
}
int good_free_inside(int n) {
    char *p = malloc(8);
    if (!p)
        return 0;
    free(p);
    return n;
}

int bad_free_local(int n) {
    int local = n;
    int *p = &local;
    if (n > 100)
        free(p); //~ invalid-free
    return local;
}
int good_free_local(int n) {
    int local = n;
    int *p = malloc(sizeof *p);
    if (n > 100)
        free(p);
    else
        free(p);
    return local;
}

int bad_grow(struct buffer *b) {
    char *old = b->data;
    char *grown = realloc(old, 32);
    if (grown == NULL)
        return -1;
    b->data = grown;
    return old[0]; //~ use-after-free
}
int good_grow(struct buffer *b) {
    char *old = b->data;
    char *grown = realloc(old, 32);
    if (grown == NULL)
        return old[0];
    b->data = grown;
    return grown[0];
}

void bad_owner(struct buffer *b) {
    if (b->owned) {
        free(b->data);
        b->owned = 0;
    }
    if (!b->owned && b->size == 1)
        free(b->data); //~ double-free
    if (b->owned == 0 && b->size == 1)
        free(b->data); //~ double-free
}
void good_owner(struct buffer *b) {
    if (b->owned) {
        free(b->data);
        b->owned = 0;
        b->data = NULL;
    }
}
