/* What looks certain and is not: what loops with two conditions leave, what callees give or write, values that only a skipped call would change, enumerations,
 * tables with an end mark; and the same with an error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pair { int value, key; struct pair *next; };
void note(const char *what);
int is_ready(void);

/* Loops with two conditions. */
int bad_before(struct pair *p, int key) {
    struct pair *last = NULL;
    while (p && p->key < key) {
        last = p;
        p = p->next;
    }
    if (last == NULL)
        return last->value; //~ null-dereference
    return last->value;
}
int good_before(struct pair *p, int key) {
    struct pair *last = NULL;
    while (p && p->key < key) {
        last = p;
        p = p->next;
    }
    return last->value;
}
int good_letters(const char *s) {
    int n = 0;
    while (*s && *s != ',') {
        n++;
        s++;
    }
    return 100 / n;
}

/* Numbers of callees. */
static int weight(int kind) {
    if (kind == 'a')
        return 4;
    return 0;
}
int bad_share(int kind) {
    if (kind == 'b')
        return 100 / weight(kind); //~ division-by-zero
    return 0;
}
int good_share(int kind) {
    return 100 / weight(kind);
}
static void complain(int n) {
    if (n == 0)
        note("zero");
}
int bad_tenth(int n) {
    complain(n);
    if (n == 0)
        return 10 / n; //~ division-by-zero
    return n;
}
int good_tenth(int n) {
    complain(n);
    return 10 / n;
}
int good_chomp(const char *s) {
    char b[16];
    strncpy(b, s, sizeof b - 1);
    b[15] = 0;
    b[strlen(b) - 1] = 0;
    return b[0];
}

/* Pointers that callees write. */
static void pick(struct pair *a, struct pair **out) {
    if (!a) {
        *out = NULL;
        return;
    }
    *out = a;
}
int bad_picked(struct pair *a) {
    struct pair *x;
    pick(a, &x);
    if (!x)
        return x->value; //~ null-dereference
    return 0;
}
int good_picked(struct pair *a) {
    struct pair *x;
    pick(a, &x);
    return x->value;
}

/* Equal strings. */
static int same(const char *a, const char *b) {
    if (!a || !b)
        return a == b;
    return *a == *b;
}
int good_starts(const char *s) {
    if (!same(s, "r"))
        return *s;
    return 4;
}

/* Enumerations. */
enum size { SMALL, MIDDLE, LARGE };
int bad_items(enum size s, int bytes) {
    int each = 0;
    switch (s) {
    case SMALL: each = 0; break;
    case MIDDLE: each = 2; break;
    case LARGE: each = 4; break;
    }
    if (s == SMALL)
        return bytes / each; //~ division-by-zero
    return each;
}
int good_items(enum size s, int bytes) {
    int each = 0;
    switch (s) {
    case SMALL: each = 1; break;
    case MIDDLE: each = 2; break;
    case LARGE: each = 4; break;
    }
    return bytes / each;
}

/* What a skipped call would have to change. */
int verbose;
int good_flag(struct pair *p) {
    struct pair *q = NULL;
    if (verbose)
        q = p->next;
    note("step");
    if (verbose)
        return q->value;
    return 0;
}
int good_twice(struct pair *p) {
    struct pair *q = NULL;
    if (is_ready())
        q = p->next;
    p->value++;
    if (is_ready())
        return q->value;
    return 0;
}
int bad_flag(struct pair *p) {
    struct pair *q = NULL;
    note("step");
    if (verbose)
        return q->value; //~ null-dereference
    return p->value;
}

/* No memory. */
void *good_or_stop(size_t n) {
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}

/* A table that ends with a mark. */
const char *names[] = {"a", "bb", "ccc", NULL};
int good_names(int c) {
    const char **p = names;
    int n = 0;
    while (*p) {
        if (**p == c)
            n++;
        p++;
    }
    return n;
}

/* Null and any index. */
int bad_at(const char *p, size_t n) {
    if (p)
        return 0;
    return p[n]; //~ null-dereference
}
int good_at(const char *p, size_t n) {
    if (!p)
        return 0;
    return p[n];
}
