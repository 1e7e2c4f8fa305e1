/* Inputs of many pointers: trees, lists around a sentinel, unions, bit-fields, tables of functions,
   parsers with results through pointers, callbacks. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tree { struct tree *left, *right, *parent; int key; };

int bad_rotate(struct tree *t) {
    struct tree *r = t->right;
    if (r == NULL) {
        t->right = r->left; //~ null-dereference
        return 0;
    }
    t->right = r->left;
    if (r->left)
        r->left->parent = t;
    r->parent = t->parent;
    return 1;
}
int good_rotate(struct tree *t) {
    struct tree *r = t->right;
    if (r == NULL)
        return 0;
    t->right = r->left;
    if (r->left)
        r->left->parent = t;
    r->parent = t->parent;
    return 1;
}

static struct tree *smallest(struct tree *t) {
    while (t->left)
        t = t->left;
    return t;
}
/* The successor of a rightmost node has no parent that it is left of. */
int bad_successor(struct tree *t) {
    if (t->right)
        return smallest(t->right)->key;
    struct tree *p = t->parent;
    while (p && p->right == t) {
        t = p;
        p = p->parent;
    }
    if (p == NULL)
        return p->key; //~ null-dereference
    return p->key;
}
int good_successor(struct tree *t) {
    if (t->right)
        return smallest(t->right)->key;
    struct tree *p = t->parent;
    while (p && p->right == t) {
        t = p;
        p = p->parent;
    }
    return p ? p->key : -1;
}

void bad_free_leaf(struct tree *t) {
    if (t->left || t->right)
        return;
    if (t->parent && t->parent->left == t)
        t->parent->left = NULL;
    free(t);
    t->key = 0; //~ use-after-free
}
void good_free_leaf(struct tree *t) {
    if (t->left || t->right)
        return;
    if (t->parent && t->parent->left == t)
        t->parent->left = NULL;
    t->key = 0;
    free(t);
}

struct link { struct link *next, *prev; };
struct job { int id; struct link in; };
#define JOB(l) ((struct job *)((char *)(l) - offsetof(struct job, in)))

/* An empty list leads to its sentinel, which is no job: the first is only freed twice if there is one. */
int bad_pop_twice(struct link *head) {
    struct link *first = head->next;
    if (first == head)
        return 0;
    first->next->prev = head;
    head->next = first->next;
    free(JOB(first));
    if (head->next != first)
        free(JOB(first)); //~ double-free
    return 1;
}
int good_pop_twice(struct link *head) {
    struct link *first = head->next;
    if (first == head)
        return 0;
    first->next->prev = head;
    head->next = first->next;
    free(JOB(first));
    return 1;
}

int bad_detached(struct link *head, struct link *l) {
    if (head == l)
        return 0;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->next = NULL;
    l->prev = NULL;
    head->prev = head;
    if (l->next == NULL && head != l)
        return l->next->prev == head; //~ null-dereference
    return 1;
}
int good_detached(struct link *head, struct link *l) {
    if (head == l)
        return 0;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->next = l;
    l->prev = l;
    return l->next->prev == l;
}

struct value {
    enum { NUMBER, TEXT, LIST } kind : 3;
    unsigned shared : 1;
    unsigned count : 12;
    union {
        int64_t number;
        char *text;
        struct value *items;
    };
};

int bad_union(struct value *v) {
    switch (v->kind) {
    case NUMBER:
        v->number = 0;
        if (v->shared)
            return v->text[0]; //~ null-dereference
        return 1;
    case TEXT:
        return v->text[0];
    default:
        return 0;
    }
}
int good_union(struct value *v) {
    switch (v->kind) {
    case NUMBER:
        v->number = 0;
        return v->shared;
    case TEXT:
        return v->text[0];
    default:
        return 0;
    }
}

int bad_bits(struct value *v) {
    v->count = 0;
    if (v->shared == 1)
        return 100 / v->count; //~ division-by-zero
    return 0;
}
int good_bits(struct value *v) {
    v->count = 3;
    v->shared = 0;
    return 100 / v->count;
}

typedef int handler(struct value *, int *);
static int on_number(struct value *v, int *out) { *out = (int)v->number; return 0; }
static int on_text(struct value *v, int *out) { (void)v; (void)out; return 1; }
static handler *const handlers[4] = { on_number, on_text };

int bad_table(struct value *v, unsigned n) {
    int out = 1;
    if (n > 1 && n < 4)
        return handlers[n](v, &out); //~ bad-call-target
    return out;
}
int good_table(struct value *v, unsigned n) {
    int out = 1;
    if (n < 2 && handlers[n](v, &out) == 0)
        return out;
    return 0;
}

/* The result is only written where the parser succeeds. */
static int number(const char *s, int *out) {
    if (s[0] < '0' || s[0] > '9')
        return -1;
    *out = s[0] - '0';
    return 0;
}
int bad_parsed(const char *s) {
    int n = 0;
    if (number(s, &n) != 0)
        return 10 / n; //~ division-by-zero
    return n;
}
int good_parsed(const char *s) {
    int n = 0;
    if (number(s, &n) != 0)
        return -1;
    return n > 0 ? 10 / n : 0;
}

/* One too many is written when the word fills the place. */
int bad_word(const char *s, char *rest) {
    char word[4];
    size_t n = 0;
    while (n < sizeof word && s[n] >= 'a' && s[n] <= 'z') {
        word[n] = s[n];
        n++;
    }
    if (n == sizeof word)
        word[n] = 0; //~ out-of-bounds-write
    *rest = word[0];
    return (int)n;
}
int good_word(const char *s, char *rest) {
    char word[5];
    size_t n = 0;
    while (n < sizeof word - 1 && s[n] >= 'a' && s[n] <= 'z') {
        word[n] = s[n];
        n++;
    }
    word[n] = 0;
    *rest = word[0];
    return (int)n;
}

/* A callback may free what it is given, but not a variable of the caller's. */
typedef void visitor(struct value *, void *);
int bad_visited(struct value *v, visitor *f, void *with) {
    char *own = malloc(8);
    if (own == NULL)
        return 0;
    own[0] = 1;
    f(v, with);
    free(own);
    return own[0]; //~ use-after-free
}
int good_visited(struct value *v, visitor *f, void *with) {
    char *own = malloc(8);
    if (own == NULL)
        return 0;
    own[0] = 1;
    f(v, with);
    int first = own[0];
    free(own);
    return first + (v->shared ? 1 : 0);
}

/* The callback may change what it is given: nothing is known of it afterwards. */
int bad_visits(struct value *v, visitor *f) {
    int left = 0;
    v->items = NULL;
    f(NULL, &left);
    v->items = NULL;
    return v->items->kind; //~ null-dereference
}
int good_visits(struct value *v, visitor *f) {
    int left = 0;
    v->items = NULL;
    f(v, &left);
    if (left == 0)
        return 0;
    return v->items ? v->items->kind + 10 / left : 0;
}

struct ops { int (*open)(void *); void (*close)(void *); };
struct file { const struct ops *ops; void *data; int users; };
int bad_release(struct file *f) {
    if (f->ops->close)
        f->ops->close(f->data);
    if (--f->users == 0) {
        free(f->data);
        free(f);
        return f->users; //~ use-after-free
    }
    return f->users;
}
int good_release(struct file *f) {
    int left;
    if (f->ops->close)
        f->ops->close(f->data);
    left = --f->users;
    if (left == 0) {
        free(f->data);
        free(f);
    }
    return left;
}

/* Two ways to the same node: what was freed by one is used by the other. */
struct node { struct node *a, *b; int n; };
int bad_shared_node(struct node *x) {
    if (x->a == NULL || x->a != x->b)
        return 0;
    free(x->a);
    return x->b->n; //~ use-after-free
}
int good_shared_node(struct node *x) {
    if (x->a == NULL || x->a == x->b)
        return 0;
    x->b->n = 1;
    return x->a->n;
}

/* A ring of two. */
int bad_ring(struct node *x) {
    if (x->a == x || x->a == NULL || x->a->a != x)
        return 0;
    free(x->a->a);
    return x->n; //~ use-after-free
}
int good_ring(struct node *x) {
    if (x->a == x || x->a == NULL || x->a->a != x)
        return 0;
    free(x->a);
    return x->n;
}

/* The sizes of parts come with the input. */
struct packet { uint8_t kind, length; uint8_t body[6]; };
int bad_packet(const struct packet *p) {
    uint8_t copy[6];
    if (p->length != 7)
        return 0;
    for (int i = 0; i < p->length; i++)
        copy[i] = p->kind; //~ out-of-bounds-write
    return copy[0];
}
int good_packet(const struct packet *p) {
    uint8_t copy[6];
    if (p->length > sizeof copy)
        return 0;
    for (int i = 0; i < p->length; i++)
        copy[i] = p->body[i];
    return p->length ? copy[0] : 0;
}
