// Containers as programs write them: lists with a sentinel, trees, ring buffers, hash tables, heaps, stacks and queues.
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct link { struct link *next, *prev; };
struct item { int key; struct link link; int refs; };
#define ITEM(l) ((struct item *)((char *)(l) - offsetof(struct item, link)))

// The sentinel is no item: an empty list has no first one.
int bad_sentinel_first(struct link *head) {
    struct item *found = NULL;
    if (head->next != head)
        found = ITEM(head->next);
    return found->key; //~ null-dereference
}
int good_sentinel_first(struct link *head) {
    struct item *found = NULL;
    if (head->next != head)
        found = ITEM(head->next);
    return found ? found->key : -1;
}

void bad_remove_all(struct link *head) {
    for (struct link *l = head->next; l != head; l = l->next) { //~ use-after-free
        struct item *item = ITEM(l);
        l->prev->next = l->next;
        l->next->prev = l->prev;
        free(item);
    }
}
void good_remove_all(struct link *head) {
    struct link *next;
    for (struct link *l = head->next; l != head; l = next) {
        struct item *item = ITEM(l);
        next = l->next;
        l->prev->next = l->next;
        l->next->prev = l->prev;
        free(item);
    }
}

struct tree { struct tree *left, *right, *parent; int key, height; };

struct tree *bad_leftmost(struct tree *t) {
    while (t)
        t = t->left;
    t->height = 0; //~ null-dereference
    return t;
}
struct tree *good_leftmost(struct tree *t) {
    while (t && t->left)
        t = t->left;
    if (t)
        t->height = 0;
    return t;
}

struct tree *bad_rotate(struct tree *t) {
    struct tree *r = t->right;
    if (r == NULL && t->left == NULL)
        t->height = r->height + 1; //~ null-dereference
    return t;
}
struct tree *good_rotate(struct tree *t) {
    struct tree *r = t->right;
    if (r == NULL)
        return t;
    t->right = r->left;
    if (r->left)
        r->left->parent = t;
    r->left = t;
    r->parent = t->parent;
    t->parent = r;
    return r;
}

void bad_free_tree(struct tree *t) {
    if (!t)
        return;
    struct tree *left = t->left;
    bad_free_tree(left);
    if (left)
        left->height = 0; //~ use-after-free
    free(t);
}
void good_free_tree(struct tree *t) {
    if (!t)
        return;
    good_free_tree(t->left);
    good_free_tree(t->right);
    free(t);
}

struct ring { unsigned head, tail; unsigned char bytes[16]; };

int bad_ring_put(struct ring *r, int c) {
    if (r->head > sizeof r->bytes)
        return -1;
    unsigned char copy[16] = {0};
    if (r->head == sizeof copy)
        copy[r->head] = c; //~ out-of-bounds-write
    return copy[0];
}
int good_ring_put(struct ring *r, int c) {
    unsigned next = (r->head + 1) % sizeof r->bytes;
    if (next == r->tail)
        return -1;
    if (r->head >= sizeof r->bytes)
        return -1;
    r->bytes[r->head] = c;
    r->head = next;
    return 0;
}

int bad_ring_average(struct ring *r) {
    unsigned used = (r->head - r->tail) & 15, sum = 0;
    for (unsigned i = 0; i < used; i++)
        sum += r->bytes[(r->tail + i) & 15];
    if (sum == 0 && used == 0)
        return sum / used; //~ division-by-zero
    return sum;
}
int good_ring_average(struct ring *r) {
    unsigned used = (r->head - r->tail) & 15, sum = 0;
    for (unsigned i = 0; i < used; i++)
        sum += r->bytes[(r->tail + i) & 15];
    return used ? sum / used : 0;
}

struct entry { unsigned hash; const char *key; void *value; struct entry *chain; };
struct table { struct entry **buckets; unsigned size, used; };

void *bad_table_get(struct table *t, const char *key, unsigned hash) {
    struct entry *e = t->buckets[hash % t->size];
    while (e && (e->hash != hash || e->key != key))
        e = e->chain;
    return e->value; //~ null-dereference
}
void *good_table_get(struct table *t, const char *key, unsigned hash) {
    if (t->size == 0)
        return NULL;
    struct entry *e = t->buckets[hash % t->size];
    while (e && (e->hash != hash || strcmp(e->key, key) != 0))
        e = e->chain;
    return e ? e->value : NULL;
}

int bad_table_remove(struct table *t, unsigned slot, unsigned hash) {
    for (struct entry **at = &t->buckets[slot]; *at; at = &(*at)->chain)
        if ((*at)->hash == hash) {
            struct entry *gone = *at;
            free(gone);
            t->used--;
            *at = gone->chain; //~ use-after-free
            return 1;
        }
    return 0;
}
int good_table_remove(struct table *t, unsigned slot, unsigned hash) {
    for (struct entry **at = &t->buckets[slot]; *at; at = &(*at)->chain)
        if ((*at)->hash == hash) {
            struct entry *gone = *at;
            *at = gone->chain;
            free(gone);
            t->used--;
            return 1;
        }
    return 0;
}

int bad_table_new(struct table *t, unsigned size) {
    t->buckets = calloc(size, sizeof *t->buckets);
    t->size = size;
    if (!t->buckets && size != 0)
        t->buckets[0] = NULL; //~ null-dereference
    return 0;
}
int good_table_new(struct table *t, unsigned size) {
    t->buckets = calloc(size, sizeof *t->buckets);
    t->size = size;
    if (!t->buckets)
        return -1;
    if (size != 0)
        t->buckets[0] = NULL;
    return 0;
}

struct heap { int *keys; int used, room; };

int bad_heap_pop(struct heap *h) {
    int copy[2];
    copy[0] = h->used, copy[1] = h->room;
    if (h->used == 0)
        return copy[h->used - 1]; //~ out-of-bounds-read
    return h->keys[--h->used];
}
int good_heap_pop(struct heap *h) {
    if (h->used == 0)
        return -1;
    return h->keys[--h->used];
}

int bad_heap_push(struct heap *h, int key) {
    if (h->used == h->room) {
        int *grown = realloc(h->keys, sizeof(int) * 2 * (h->room + 1));
        if (!grown) {
            free(h->keys);
            return h->keys[0]; //~ use-after-free
        }
        h->keys = grown;
        h->room = 2 * (h->room + 1);
    }
    h->keys[h->used++] = key;
    return 0;
}
int good_heap_push(struct heap *h, int key) {
    if (h->used == h->room) {
        int *grown = realloc(h->keys, sizeof(int) * 2 * (h->room + 1));
        if (!grown)
            return -1;
        h->keys = grown;
        h->room = 2 * (h->room + 1);
    }
    h->keys[h->used++] = key;
    return 0;
}

struct queue { struct item *first, **end; int count; };

struct item *bad_queue_pop(struct queue *q) {
    struct item *i = q->first;
    if (q->count <= 0) {
        assert(q->first == NULL);
        i->refs--; //~ null-dereference
    }
    return i;
}
struct item *good_queue_pop(struct queue *q) {
    struct item *i = q->first;
    if (q->count <= 0) {
        assert(q->first == NULL);
        return NULL;
    }
    i->refs--;
    return i;
}

int bad_list_length(struct link *head) {
    int n = 0;
    for (struct link *l = head; l; l = l->next)
        n++;
    if (n == 3)
        return 100 / (n - 3); //~ division-by-zero
    return n;
}
int good_list_length(struct link *head) {
    int n = 0;
    for (struct link *l = head; l; l = l->next)
        n++;
    if (n == 3)
        return 100 / (n - 2);
    return n;
}

int bad_skip_levels(struct tree *levels[4]) {
    int i = 0;
    while (i < 4 && levels[i] == NULL)
        i++;
    struct tree *copy[4] = {levels[0], levels[1], levels[2], levels[3]};
    return copy[i] != NULL; //~ out-of-bounds-read
}
int good_skip_levels(struct tree *levels[4]) {
    int i = 0;
    while (i < 4 && levels[i] == NULL)
        i++;
    return i < 4 ? levels[i]->key : 0;
}
