// Pointers that the code itself has found to be null.
#include <stdlib.h>
#include <string.h>

struct node { int value; struct node *next; char *name; };
struct config { struct node *first; int flags; };

int bad_check_inverted(struct node *n) {
    if (n != NULL)
        return 0;
    return n->value; //~ null-dereference
}
int good_check_inverted(struct node *n) {
    if (n == NULL)
        return 0;
    return n->value;
}

int bad_null_and(struct node *n) {
    if (n || n->value == 3) //~ null-dereference
        return 1;
    return 0;
}
int good_null_and(struct node *n) {
    if (n && n->value == 3)
        return 1;
    return 0;
}

int bad_field_null(struct config *c) {
    struct node *f = c->first;
    if (!f && c->flags == 7)
        return f->value; //~ null-dereference
    return 0;
}
int good_field_null(struct config *c) {
    struct node *f = c->first;
    if (f && c->flags == 7)
        return f->value;
    return 0;
}

int bad_allocation(int n) {
    int *p = malloc(sizeof *p);
    p[0] = n; //~ null-dereference
    n = p[0];
    free(p);
    return n;
}
int good_allocation(int n) {
    int *p = malloc(sizeof *p);
    if (!p)
        return -1;
    p[0] = n;
    n = p[0];
    free(p);
    return n;
}

int bad_loop_end(struct node *n, int wanted) {
    while (n && n->value != wanted)
        n = n->next;
    return n->value; //~ null-dereference
}
int good_loop_end(struct node *n, int wanted) {
    while (n && n->value != wanted)
        n = n->next;
    return n ? n->value : -1;
}

char *bad_copy_name(struct node *n) {
    char *copy = malloc(16);
    strncpy(copy, n->name, 15); //~ null-dereference
    copy[15] = 0;
    return copy;
}
char *good_copy_name(struct node *n) {
    char *copy = malloc(16);
    if (!copy)
        return NULL;
    memcpy(copy, n->name, 15);
    copy[15] = 0;
    return copy;
}

struct ops { int (*open)(struct node *); };
int bad_null_call(struct ops *o, struct node *n) {
    if (o->open == NULL)
        return o->open(n); //~ bad-call-target
    return 0;
}
int good_null_call(struct ops *o, struct node *n) {
    if (o->open != NULL)
        return o->open(n);
    return 0;
}

int bad_error_code(struct node *n) {
    if ((unsigned long)n >= (unsigned long)-4095)
        return n->value; //~ wild-pointer
    return 0;
}
int good_error_code(struct node *n) {
    if ((unsigned long)n >= (unsigned long)-4095)
        return 0;
    return n->value;
}

struct table { int *at; unsigned used, room; };

int bad_grown_index(struct table *t, int value) {
    if (t->used == t->room)
        t->at = realloc(t->at, 64 * sizeof *t->at);
    if (t->used >= 64)
        return -1;
    t->at[t->used++] = value; //~ null-dereference
    return 0;
}
int good_grown_index(struct table *t, int value) {
    if (t->used == t->room) {
        int *grown = realloc(t->at, 64 * sizeof *t->at);
        if (!grown)
            return -1;
        t->at = grown;
    }
    if (t->used >= 64)
        return -1;
    t->at[t->used++] = value;
    return 0;
}

char bad_bytes_index(size_t n) {
    char *bytes = calloc(16, 1);
    char c = bytes[n & 15]; //~ null-dereference
    free(bytes);
    return c;
}
char good_bytes_index(size_t n) {
    char *bytes = calloc(16, 1);
    char c = bytes ? bytes[n & 15] : 0;
    free(bytes);
    return c;
}

int bad_chosen_index(int *a, int n, int which) {
    int *from = which > 3 ? a : NULL;
    if (which < 3)
        return from[n]; //~ null-dereference
    return 0;
}
int good_chosen_index(int *a, int n, int which) {
    int *from = which > 3 ? a : NULL;
    if (which > 4)
        return from[n];
    return 0;
}

int bad_tested_index(int *a, unsigned n) {
    if (!a && n < 100)
        return a[n]; //~ null-dereference
    return 0;
}
int good_tested_index(int *a, unsigned n) {
    if (a && n < 100)
        return a[n];
    return 0;
}

struct grid { int width; int cells[8]; };
int bad_field_index(int n) {
    struct grid *g = malloc(sizeof *g);
    int value = n;
    g->cells[n & 7] = value; //~ null-dereference
    free(g);
    return value;
}
int good_field_index(int n) {
    struct grid *g = malloc(sizeof *g);
    int value = n;
    if (g)
        g->cells[n & 7] = value;
    free(g);
    return value;
}

/* What an integer is, no pointer says: relative to null it is an address. */
struct relocated { size_t place; };
int bad_relocated(struct relocated *r, int n) {
    char *base = NULL;
    int *at = (int *)(base + r->place);
    if (at == NULL && n > 3)
        return *at; //~ null-dereference
    return n;
}
int good_relocated(struct relocated *r, int n) {
    int *at = (int *)((char *)0 + r->place);
    if (at != NULL && n > 3)
        return *at;
    return n;
}
