// Calls: tables of functions, callbacks, iterators, variable arguments, recursion, comparators, static state.
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream;
struct stream_ops { int (*read)(struct stream *, char *, int); void (*close)(struct stream *); };
struct stream { const struct stream_ops *ops; void *state; int error; };

int bad_ops_missing(struct stream *s, char *to) {
    if (s->ops->read == NULL)
        s->error = 1;
    if (s->error == 1 && !s->ops->read)
        return s->ops->read(s, to, 8); //~ bad-call-target
    return 0;
}
int good_ops_missing(struct stream *s, char *to) {
    if (s->ops->read == NULL)
        return -1;
    return s->ops->read(s, to, 8);
}

static int add(int a, int b) { return a + b; }
static int divide(int a, int b) { return a / b; }
static int modulo(int a, int b) { return b ? a % b : 0; }
static int (*const operations[3])(int, int) = {add, divide, modulo};

int bad_dispatch(unsigned op, int a) {
    if (op < 3)
        return operations[op](a, 0); //~ division-by-zero
    return 0;
}
int good_dispatch(unsigned op, int a) {
    if (op < 3 && op != 1)
        return operations[op](a, 0);
    return 0;
}

typedef int visitor(void *with, int key);
struct node { int key; struct node *next; };
static int each(struct node *n, visitor *visit, void *with) {
    for (; n; n = n->next)
        if (visit(with, n->key))
            return 1;
    return 0;
}
static int find_key(void *with, int key) { return *(int *)with == key; }
static int count_zero(void *with, int key) {
    int *counts = with;
    counts[key == 0 ? 0 : 2]++;
    return 0;
}
int bad_visit(struct node *n) {
    int counts[2] = {0, 0};
    each(n, count_zero, counts); //~ out-of-bounds-read
    return counts[0];
}
int good_visit(struct node *n, int key) {
    return each(n, find_key, &key);
}

int bad_callback_freed(struct stream *s, void (*done)(void *)) {
    char *buffer = malloc(16);
    if (!buffer)
        return -1;
    buffer[0] = s->error;
    free(buffer);
    done(NULL);
    return buffer[0]; //~ use-after-free
}
int good_callback_freed(struct stream *s, void (*done)(void *)) {
    char *buffer = malloc(16);
    if (!buffer)
        return -1;
    buffer[0] = s->error;
    done(buffer);
    int first = buffer[0];
    free(buffer);
    return first;
}

// What a callback may have changed is unknown afterwards.
static int changed;
int bad_callback_static(void (*notify)(void)) {
    int before = 3;
    notify();
    if (changed > 0 && changed < 1 + before - 2)
        return before / (changed - 1); //~ division-by-zero
    return 0;
}
int good_callback_static(void (*notify)(void)) {
    changed = 1;
    notify();
    return changed == 0 ? 0 : 10 / changed;
}

static int sum(int n, ...) {
    va_list list;
    int total = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        total += va_arg(list, int);
    va_end(list);
    return total;
}
int bad_varargs(int a) {
    int total = sum(3, a, 2, -2);
    if (a == 0)
        return 5 / total; //~ division-by-zero
    return total;
}
int good_varargs(int a) {
    int total = sum(3, a, 2, -1);
    if (a == 0)
        return 5 / total;
    return total;
}

int bad_format(char *to, int n) {
    char text[4];
    if (n == 1000)
        sprintf(text, "%d", n); //~ out-of-bounds-write
    *to = 0;
    return n;
}
int good_format(char *to, int n) {
    char text[5];
    if (n == 1000)
        sprintf(text, "%d", n);
    *to = 0;
    return n;
}

static int by_key(const void *a, const void *b) {
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
    return x->key < y->key ? -1 : x->key > y->key;
}
int bad_sort(struct node *n) {
    struct node *all[2] = {n, NULL};
    qsort(all, 2, sizeof all[0], by_key); //~ null-dereference
    return all[0] != NULL;
}
int good_sort(struct node *a, struct node *b) {
    struct node *all[2] = {a, b};
    if (a && b)
        qsort(all, 2, sizeof all[0], by_key);
    return all[0] == NULL;
}

int bad_depth(struct node *n) {
    if (n->next == NULL)
        return n->next->key; //~ null-dereference
    return 1 + bad_depth(n->next);
}
int good_depth(struct node *n) {
    if (n->next == NULL)
        return n->key;
    return 1 + good_depth(n->next);
}

// State that stays from call to call, and code that runs once.
int bad_once(int n) {
    static int *cache;
    if (cache == NULL) {
        cache = calloc(4, sizeof *cache);
        if (cache == NULL)
            cache[0] = n; //~ null-dereference
    }
    return n;
}
int good_once(int n) {
    static int *cache;
    if (cache == NULL) {
        cache = calloc(4, sizeof *cache);
        if (cache == NULL)
            return -1;
        cache[0] = n;
    }
    return cache[0];
}

struct cursor { struct node *at; int left; };
static int cursor_next(struct cursor *c, int *key) {
    if (c->left <= 0 || !c->at)
        return 0;
    *key = c->at->key;
    c->at = c->at->next;
    c->left--;
    return 1;
}
int bad_cursor(struct node *n) {
    struct cursor c = {n, 2};
    int key = 0, total = 0;
    while (cursor_next(&c, &key))
        total += key;
    if (c.left > 0)
        return c.at->key; //~ null-dereference
    return total;
}
int good_cursor(struct node *n) {
    struct cursor c = {n, 2};
    int key = 0, total = 0;
    while (cursor_next(&c, &key))
        total += key;
    if (c.left == 0 && c.at)
        return c.at->key;
    return total;
}

extern int environment_get(const char *name, char *to, unsigned long room);
int bad_out_parameter(const char *name) {
    char *text = NULL;
    char room[8];
    if (environment_get(name, room, sizeof room) != 0)
        return text[0]; //~ null-dereference
    return room[0];
}
int good_out_parameter(const char *name) {
    char room[8];
    if (environment_get(name, room, sizeof room) != 0)
        return -1;
    room[7] = 0;
    return room[0] ? 100 / room[0] : 0;
}
