// Errors after loops that run more often than a path follows them, and values that such loops never leave.
#include <stdlib.h>

struct item { int key; struct item *next; };
struct set { struct item *first; char *name; unsigned count; };

int bad_sum_then_null(const int *a, unsigned n) {
    int sum = 0;
    if (n < 1000)
        return 0;
    for (unsigned i = 0; i < n; i++)
        sum += a[i];
    int *total = malloc(sizeof *total);
    *total = sum; //~ null-dereference
    sum = *total;
    free(total);
    return sum;
}
int good_sum_then_null(const int *a, unsigned n) {
    int sum = 0;
    if (n < 1000)
        return 0;
    for (unsigned i = 0; i < n; i++)
        sum += a[i];
    int *total = malloc(sizeof *total);
    if (!total)
        return -1;
    *total = sum;
    sum = *total;
    free(total);
    return sum;
}

int bad_filled_then_freed(struct set *s, int *a, unsigned n) {
    free(s->name);
    if (n < 500)
        return 0;
    for (unsigned i = 0; i < n; i++)
        a[i & 15] = (int)i;
    int last = a[3];
    free(s->name); //~ double-free
    return last;
}
int good_filled_then_freed(struct set *s, int *a, unsigned n) {
    free(s->name);
    s->name = NULL;
    if (n < 500)
        return 0;
    for (unsigned i = 0; i < n; i++)
        a[i & 15] = (int)i;
    int last = a[3];
    free(s->name);
    return last;
}

int bad_long_list(struct set *s, int key) {
    unsigned length = 0;
    char *copy = NULL;
    for (struct item *i = s->first; i; i = i->next) {
        length++;
        if (length > 100 && i->key == key)
            return *copy; //~ null-dereference
    }
    return 0;
}
int good_long_list(struct set *s, int key) {
    unsigned length = 0;
    char *copy = NULL;
    for (struct item *i = s->first; i; i = i->next) {
        length++;
        if (length > 100 && i->key == key)
            return copy ? *copy : key;
    }
    return 0;
}

int bad_inner_loop(const unsigned char *text, unsigned lines, unsigned columns) {
    unsigned seen = 0;
    if (lines < 70 || columns < 70)
        return 0;
    for (unsigned line = 0; line < lines; line++)
        for (unsigned column = 0; column < columns; column++)
            seen += text[column];
    int *none = NULL;
    return *none + (int)seen; //~ null-dereference
}
int good_inner_loop(const unsigned char *text, unsigned lines, unsigned columns) {
    unsigned seen = 0;
    if (lines < 70 || columns < 70)
        return 0;
    for (unsigned line = 0; line < lines; line++)
        for (unsigned column = 0; column < columns; column++)
            seen += text[column];
    return (int)seen;
}

/* What is counted is what it was counted by: the test never holds. */
int bad_counted(unsigned n) {
    unsigned count = 0;
    int *none = NULL;
    if (n < 1000)
        return 0;
    for (unsigned i = 0; i < n; i++)
        count++;
    return *none + (int)count; //~ null-dereference
}
int good_counted(unsigned n) {
    unsigned count = 0;
    int *none = NULL;
    if (n < 1000)
        return 0;
    for (unsigned i = 0; i < n; i++)
        count++;
    if (count != n)
        return *none;
    return (int)count;
}

static unsigned total;
static void add(unsigned n) { total += n; }
int bad_called(unsigned n, int *p) {
    if (n < 1000)
        return 0;
    total = 0;
    for (unsigned i = 0; i < n; i++)
        add(i);
    if (p == NULL)
        return *p; //~ null-dereference
    return (int)total;
}
int good_called(unsigned n, int *p) {
    int *none = NULL;
    if (n < 1000)
        return 0;
    total = 0;
    for (unsigned i = 0; i < n; i++)
        add(i);
    if (total == 0)
        return *none;
    return *p;
}

/* The loop ends with an empty list, however long it was. */
int bad_emptied(struct set *s) {
    struct item *last = s->first;
    int longer = 0;
    while (s->first) {
        struct item *next = s->first->next;
        longer++;
        free(s->first);
        s->first = next;
    }
    int *none = NULL;
    if (longer > 200)
        longer = 200;
    return last ? longer : *none; //~ null-dereference
}
int good_emptied(struct set *s) {
    int *none = NULL;
    while (s->first) {
        struct item *next = s->first->next;
        free(s->first);
        s->first = next;
    }
    return s->first ? *none : 0;
}

/* Two ways out: that the second one is taken, only some values of the loop allow. */
int bad_two_ways(const char *s, char *out) {
    unsigned i = 0;
    while (s[i] != 0) {
        if (i == 5000)
            break;
        i++;
    }
    char *none = NULL;
    *none = out[0]; //~ null-dereference
    return (int)i;
}
int good_two_ways(const char *s, unsigned n) {
    unsigned i = 0, k = 7;
    char *none = NULL;
    while (i < n) {
        if (k != 7)
            return *none;
        if (s[i] == 'k')
            k = 7;
        i++;
    }
    return (int)i;
}

/* How many whole bytes `bits` has, its owner knows; where the function has tested it, it is known. */
struct bits { unsigned hold, count; };
unsigned bad_flushed(struct bits *b) {
    unsigned char bytes[4], n = 0;
    if (b->count != 40)
        return 0;
    while (b->count >= 8) {
        bytes[n++] = (unsigned char)b->hold; //~ out-of-bounds-write
        b->hold >>= 8;
        b->count -= 8;
    }
    return bytes[0];
}
unsigned good_flushed(struct bits *b) {
    unsigned char bytes[4], n = 0;
    while (b->count >= 8) {
        bytes[n++] = (unsigned char)b->hold;
        b->hold >>= 8;
        b->count -= 8;
    }
    return bytes[0];
}

/* A count of zero goes round four thousand million times: who calls knows that there is something to copy. */
unsigned bad_copied(const unsigned char *from, unsigned count) {
    unsigned char to[4];
    unsigned i = 0;
    if (count != 5)
        return 0;
    do {
        to[i] = from[i]; //~ out-of-bounds-write
        i++;
    } while (--count);
    return to[0];
}
unsigned good_copied(const unsigned char *from, unsigned count) {
    unsigned char to[4];
    unsigned i = 0;
    if (count > 4)
        return 0;
    do {
        to[i] = from[i];
        i++;
    } while (--count);
    return to[0];
}

/* Nothing returns from it. */
void good_fatal(const char *message) {
    if (message)
        (void)*(volatile const char *)message;
    abort();
}
