// How data lies: unions with tags, bit-fields, flexible arrays, packed and nested structures, structures by value, tables by enumeration.
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind { INTEGER, TEXT, LIST, KINDS };
struct value { enum kind kind; union { long integer; char *text; struct value *list; } as; };

long bad_tag(struct value *v) {
    if (v->kind == INTEGER && v->as.integer == 0)
        return *v->as.text; //~ null-dereference
    return 1;
}
long good_tag(struct value *v) {
    if (v->kind == TEXT && v->as.text != NULL)
        return *v->as.text;
    return v->as.integer;
}

void bad_release(struct value *v) {
    switch (v->kind) {
    case TEXT:
        free(v->as.text);
        // falls through
    case LIST:
        free(v->as.list); //~ double-free
        break;
    default:
        break;
    }
}
void good_release(struct value *v) {
    switch (v->kind) {
    case TEXT:
        free(v->as.text);
        break;
    case LIST:
        free(v->as.list);
        break;
    default:
        break;
    }
}

struct flags { unsigned ready : 1, mode : 3, count : 4; int delta : 5; };

int bad_bits(struct flags *f) {
    if (f->mode == 5 && !f->ready)
        return 10 / (f->mode - 5); //~ division-by-zero
    return f->count;
}
int good_bits(struct flags *f) {
    if (f->mode > 5)
        return 10 / (f->mode - 5);
    return f->count;
}

int bad_bit_sign(struct flags *f) {
    int small[16] = {0};
    if (f->delta < 0)
        return small[f->delta]; //~ out-of-bounds-read
    return 0;
}
int good_bit_sign(struct flags *f) {
    int small[16] = {0};
    if (f->delta >= 0)
        return small[f->delta];
    return 0;
}

struct packet { uint16_t length; uint8_t type; uint8_t data[]; };

struct packet *bad_flexible(unsigned n) {
    if (n > 64)
        return NULL;
    struct packet *p = malloc(sizeof *p + n);
    if (!p)
        return NULL;
    p->length = n;
    if (n == 0)
        p->data[1] = 0; //~ out-of-bounds-write
    return p;
}
struct packet *good_flexible(unsigned n) {
    if (n > 64)
        return NULL;
    struct packet *p = malloc(sizeof *p + n);
    if (!p)
        return NULL;
    p->length = n;
    if (n > 0)
        p->data[n - 1] = 0;
    return p;
}

struct packet *bad_flexible_copy(const struct packet *from) {
    struct packet *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    if (from->length >= 4)
        memcpy(p->data, from->data, 4); //~ out-of-bounds-write
    return p;
}
struct packet *good_flexible_copy(const struct packet *from) {
    struct packet *p = malloc(sizeof *p + 4);
    if (!p)
        return NULL;
    if (from->length >= 4)
        memcpy(p->data, from->data, 4);
    return p;
}

struct __attribute__((packed)) header { uint8_t version; uint32_t size; uint16_t parts; };

int bad_packed(const struct header *h) {
    if (h->version != 2 || h->size < 7)
        return -1;
    if (h->parts == 0)
        return (h->size - 7) / h->parts; //~ division-by-zero
    return 0;
}
int good_packed(const struct header *h) {
    if (h->version != 2 || h->size < 7)
        return -1;
    if (h->parts != 0)
        return (h->size - 7) / h->parts;
    return 0;
}

struct point { int x, y; };
struct box { struct point low, high; struct box *inner; };
struct wide { long a, b, c, d; };

int bad_by_value(struct point p) {
    if (p.x == p.y)
        return 100 / (p.x - p.y); //~ division-by-zero
    return 0;
}
int good_by_value(struct point p) {
    if (p.x != p.y)
        return 100 / (p.x - p.y);
    return 0;
}

long bad_wide_value(struct wide w) {
    if (w.d == 0)
        return w.a / w.d; //~ division-by-zero
    return 0;
}
long good_wide_value(struct wide w) {
    if (w.d > 0)
        return w.a / w.d;
    return 0;
}

static struct point corner(struct box b, int high) {
    if (high)
        return b.high;
    return b.low;
}
int bad_value_returned(struct box *b) {
    struct point p = corner(*b, 1);
    if (p.x == 7 && b->high.x == 7)
        assert(p.x != 7); //~ assertion-failed
    return p.y;
}
int good_value_returned(struct box *b) {
    struct point p = corner(*b, 1);
    if (p.x == 7 && b->high.x == 7)
        assert(p.x == 7);
    return p.y;
}

static const char *const kind_names[KINDS] = {"integer", "text", "list"};
char bad_kind_name(struct value *v) {
    if (v->kind == KINDS)
        return kind_names[v->kind][0]; //~ out-of-bounds-read
    return 'x';
}
char good_kind_name(struct value *v) {
    if ((unsigned)v->kind < KINDS)
        return kind_names[v->kind][0];
    return '?';
}

int bad_matrix(unsigned row, unsigned column) {
    int cells[3][4] = {{0}};
    if (row < 3 && column == 4 && row == 2)
        return cells[row][column]; //~ out-of-bounds-read
    return 0;
}
int good_matrix(unsigned row, unsigned column) {
    int cells[3][4] = {{0}};
    if (row < 3 && column < 4)
        return cells[row][column];
    return 0;
}

int bad_inner(struct box *b) {
    while (b->inner)
        b = b->inner;
    return b->inner->low.x; //~ null-dereference
}
int good_inner(struct box *b) {
    while (b->inner)
        b = b->inner;
    return b->low.x;
}

uint32_t bad_from_bytes(const uint8_t *p) {
    uint32_t n = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
    if (n == 0x01020304 && p[0] == 4)
        return n / (p[3] - 1u); //~ division-by-zero
    return n;
}
uint32_t good_from_bytes(const uint8_t *p) {
    uint32_t n = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
    if (n == 0x01020304 && p[0] == 4)
        return n / (p[3] + 1u);
    return n;
}

// A tagged pointer: its lowest bit says whether it is one.
int bad_tagged_pointer(uintptr_t word) {
    if (word & 1)
        return word >> 1;
    struct point *p = (struct point *)word;
    if (p == NULL)
        return p->x; //~ null-dereference
    return p->y;
}
int good_tagged_pointer(uintptr_t word) {
    if (word & 1)
        return word >> 1;
    struct point *p = (struct point *)word;
    return p ? p->y : 0;
}
