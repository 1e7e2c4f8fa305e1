// What has to be given back: arenas, reference counts, locks in arrays, error paths with goto, pools, files.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena { char *base; size_t used, size; };
static void *arena_take(struct arena *a, size_t n) {
    if (n > a->size - a->used || a->used > a->size)
        return NULL;
    void *p = a->base + a->used;
    a->used += n;
    return p;
}
int bad_arena(struct arena *a) {
    a->used = a->size;
    int *p = arena_take(a, sizeof *p);
    *p = 1; //~ null-dereference
    return a->used;
}
int good_arena(struct arena *a) {
    a->used = a->size;
    int *p = arena_take(a, sizeof *p);
    if (p)
        *p = 1;
    return a->used;
}

struct object { int refs; struct object *parent; char *name; };
static void unref(struct object *o) {
    if (o && --o->refs == 0) {
        free(o->name);
        free(o);
    }
}
int bad_unref(struct object *o) {
    int last = o->refs == 1;
    unref(o);
    if (last)
        return o->refs; //~ use-after-free
    return 0;
}
int good_unref(struct object *o) {
    int last = o->refs == 1;
    unref(o);
    if (!last)
        return o->refs;
    return 0;
}

void bad_unref_twice(struct object *o) {
    if (o->refs == 1) {
        free(o->name);
        unref(o); //~ double-free
    }
}
static void unref_free(struct object *o) {
    if (o && --o->refs == 0) {
        free(o->name);
        free(o);
    }
}
void good_unref_twice(struct object *o) {
    if (o->refs == 1) {
        free(o->name);
        o->name = NULL;
        unref_free(o);
    }
}

struct bank { int locks[4]; int balance[4]; };
static void take(int *l) {
    assert(*l == 0); //~ assertion-failed
    *l = 1;
}
static void give(int *l) { *l = 0; }
void bad_locks(struct bank *b, unsigned from, unsigned to) {
    if (from >= 4 || to >= 4)
        return;
    b->locks[from] = b->locks[to] = 0;
    if (from == to) {
        take(&b->locks[from]);
        take(&b->locks[to]); //~ assertion-failed
    }
}
void good_locks(struct bank *b, unsigned from, unsigned to) {
    if (from >= 4 || to >= 4)
        return;
    b->locks[from] = b->locks[to] = 0;
    take(&b->locks[from]);
    if (from != to)
        take(&b->locks[to]);
    b->balance[from]--;
    b->balance[to]++;
    give(&b->locks[to]);
    if (from != to)
        give(&b->locks[from]);
}

int bad_goto(struct object *o, int mode) {
    int result = -1;
    char *first = malloc(8), *second = NULL;
    if (!first)
        goto out;
    second = malloc(8);
    if (!second)
        goto free_first;
    if (mode == 3) {
        free(first);
        goto free_second;
    }
    o->refs++;
    result = 0;
free_second:
    free(second);
free_first:
    free(first); //~ double-free
out:
    return result;
}
int good_goto(struct object *o, int mode) {
    int result = -1;
    char *first = malloc(8), *second = NULL;
    if (!first)
        goto out;
    second = malloc(8);
    if (!second)
        goto free_first;
    if (mode == 3)
        goto free_second;
    o->refs++;
    result = 0;
free_second:
    free(second);
free_first:
    free(first);
out:
    return result;
}

int bad_unset(struct object *o, int mode) {
    char *name = NULL;
    if (mode == 1)
        goto done;
    name = o->name;
done:
    if (mode == 1)
        return name[0]; //~ null-dereference
    return 0;
}
int good_unset(struct object *o, int mode) {
    char *name = NULL;
    if (mode == 1)
        goto done;
    name = o->name;
done:
    if (mode != 1 && name)
        return name[0];
    return 0;
}

struct pool { struct object items[4]; struct object *free_items; int used; };
struct object *bad_pool(struct pool *p) {
    struct object *o = p->free_items;
    if (p->used >= 4)
        o = NULL;
    p->used++;
    if (p->used > 4)
        o->refs = 1; //~ null-dereference
    return o;
}
struct object *good_pool(struct pool *p) {
    struct object *o = p->free_items;
    if (p->used >= 4)
        return NULL;
    p->used++;
    if (o)
        p->free_items = o->parent, o->refs = 1;
    return o;
}

// An object of the pool is not on the heap.
void bad_pool_free(struct pool *p) {
    static struct pool shared;
    if (p == &shared)
        free(&p->items[1]); //~ invalid-free
}
void good_pool_free(struct pool *p) {
    static struct pool shared;
    if (p != &shared)
        free(p);
}

int bad_file(const char *name) {
    FILE *f = fopen(name, "r");
    if (!f && name[0] == '/')
        return fgetc(f); //~ null-dereference
    if (f)
        fclose(f);
    return 0;
}
int good_file(const char *name) {
    FILE *f = fopen(name, "r");
    if (!f)
        return -1;
    int c = fgetc(f);
    fclose(f);
    return c;
}

char *bad_returned_local(int n) {
    char *p = NULL;
    for (int i = 0; i < 2; i++) {
        p = malloc(4);
        if (!p)
            return NULL;
        if (n == i) {
            free(p);
            break;
        }
        if (i == 1)
            return p;
        free(p);
    }
    p[0] = 'x'; //~ use-after-free
    return p;
}
char *good_returned_local(int n) {
    char *p = NULL;
    for (int i = 0; i < 2; i++) {
        p = malloc(4);
        if (!p)
            return NULL;
        if (n == i)
            break;
        if (i == 1)
            return p;
        free(p);
    }
    p[0] = 'x';
    return p;
}

struct vector { int *data; unsigned length, room; };
int bad_stale_pointer(struct vector *v) {
    int *first = v->data;
    if (!first || v->length == 0)
        return 0;
    int *grown = realloc(v->data, 64);
    if (!grown)
        return -1;
    v->data = grown;
    return *first; //~ use-after-free
}
int good_stale_pointer(struct vector *v) {
    int *first = v->data;
    if (!first || v->length == 0)
        return 0;
    int *grown = realloc(v->data, 64);
    if (!grown)
        return -1;
    v->data = grown;
    first = v->data;
    return *first;
}

int bad_state_machine(struct object *o, const char *events) {
    int state = 0, opened = 0;
    for (int i = 0; i < 3; i++) {
        switch (events[i]) {
        case 'o': state = 1; opened++; break;
        case 'c': state = state == 1 ? 2 : state; break;
        case 'r':
            if (state == 2)
                return o->refs / (opened - 1); //~ division-by-zero
            break;
        default: return -1;
        }
    }
    return state;
}
int good_state_machine(struct object *o, const char *events) {
    int state = 0, opened = 0;
    for (int i = 0; i < 3; i++) {
        switch (events[i]) {
        case 'o': state = 1; opened++; break;
        case 'c': state = state == 1 ? 2 : state; break;
        case 'r':
            if (state == 2)
                return o->refs / opened;
            break;
        default: return -1;
        }
    }
    return state;
}
