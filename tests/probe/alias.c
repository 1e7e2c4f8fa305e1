// Two pointers to one object: only the code's own test of them makes these errors certain.
#include <assert.h>
#include <stdlib.h>

struct account { int balance; int locked; struct account *parent; };
struct pair { int *first; int *second; };

void bad_same_account(struct account *from, struct account *to) {
    from->locked = 1;
    if (from == to)
        assert(to->locked == 0); //~ assertion-failed
    from->locked = 0;
}
void good_same_account(struct account *from, struct account *to) {
    from->locked = 1;
    if (from != to)
        assert(from->locked == 1);
    from->locked = 0;
}

void bad_free_both(char *a, char *b) {
    if (a == b) {
        free(a);
        free(b); //~ double-free
    }
}
void good_free_both(char *a, char *b) {
    free(a);
    if (a != b)
        free(b);
}

int bad_different(struct account *a, struct account *b) {
    a->balance = 0;
    b->balance = 1;
    if (a != b)
        return 100 / a->balance; //~ division-by-zero
    return 0;
}
// Whether this divides by zero depends on whether the pointers are equal, which nobody tested.
int good_different(struct account *a, struct account *b) {
    a->balance = 0;
    b->balance = 1;
    return 100 / a->balance;
}

int bad_fields_equal(struct pair *p) {
    if (p->first != p->second)
        return 0;
    *p->first = 0;
    return 7 / *p->second; //~ division-by-zero
}
int good_fields_equal(struct pair *p) {
    if (p->first != p->second)
        return 0;
    *p->first = 1;
    return 7 / *p->second;
}

int bad_own_parent(struct account *a) {
    if (a->parent == a) {
        a->locked = 2;
        assert(a->parent->locked != 2); //~ assertion-failed
    }
    return 0;
}
int good_own_parent(struct account *a) {
    if (a->parent == a) {
        a->locked = 2;
        assert(a->parent->locked == 2);
    }
    return 0;
}

// The address of one field is the address of the object.
int bad_first_field(struct account *a, int *balance) {
    if (balance == &a->balance) {
        *balance = 0;
        return 1 / a->balance; //~ division-by-zero
    }
    return 0;
}
int good_first_field(struct account *a, int *balance) {
    if (balance == &a->balance) {
        *balance = 2;
        return 1 / a->balance;
    }
    return 0;
}

static int shared;
int bad_global_alias(int *p) {
    if (p == &shared) {
        *p = 0;
        return 5 / shared; //~ division-by-zero
    }
    return 0;
}
int good_global_alias(int *p) {
    if (p == &shared) {
        *p = 1;
        return 5 / shared;
    }
    return 0;
}
