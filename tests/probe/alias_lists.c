// Linked structures with cycles.
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

struct node { int value; int seen; struct node *next; struct node *prev; };

// A list of one element that points to itself.
void bad_self_cycle(struct node *n) {
    if (n->next == n) {
        free(n);
        free(n->next); //~ use-after-free
    }
}
void good_self_cycle(struct node *n) {
    if (n->next == n) {
        free(n);
        return;
    }
    free(n->next);
}

void bad_two_cycle(struct node *n) {
    struct node *m = n->next;
    if (m != n && m->next == n) {
        m->seen = 1;
        assert(n->next->seen == 0); //~ assertion-failed
    }
}
void good_two_cycle(struct node *n) {
    struct node *m = n->next;
    if (m != n && m->next == n) {
        m->seen = 1;
        assert(n->next->seen == 1);
    }
}

// Removes an element of a ring, and looks at it through its neighbour.
int bad_unlink(struct node *n) {
    struct node *prev = n->prev;
    if (prev->next == n && prev != n) {
        free(n);
        return prev->next->value; //~ use-after-free
    }
    return 0;
}
int good_unlink(struct node *n) {
    struct node *prev = n->prev;
    if (prev->next == n && prev != n) {
        prev->next = n->next;
        free(n);
        return prev->value;
    }
    return 0;
}

// Walks to the end of a ring of which nobody frees the first element twice.
void bad_free_ring(struct node *first) {
    struct node *n = first;
    do {
        struct node *next = n->next;
        free(n);
        n = next;
    } while (n != first);
    first->value = 0; //~ use-after-free
}
void good_free_ring(struct node *first) {
    struct node *n = first->next;
    while (n != first) {
        struct node *next = n->next;
        free(n);
        n = next;
    }
    free(first);
}

int bad_marked_again(struct node *n) {
    n->seen = 1;
    for (struct node *m = n->next; m; m = m->next) {
        if (m == n)
            assert(!m->seen); //~ assertion-failed
        if (m->seen)
            return 1;
        m->seen = 1;
    }
    return 0;
}
int good_marked_again(struct node *n) {
    n->seen = 1;
    for (struct node *m = n->next; m; m = m->next) {
        if (m == n)
            assert(m->seen);
        if (m->seen)
            return 1;
        m->seen = 1;
    }
    return 0;
}
