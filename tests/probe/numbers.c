// Divisions and assertions.
#include <assert.h>
#include <limits.h>

struct rate { int count; int total; int step; };

int bad_divide_checked(int a, int b) {
    if (b == 0)
        return a / b; //~ division-by-zero
    return 0;
}
int good_divide_checked(int a, int b) {
    if (b != 0)
        return a / b;
    return 0;
}

int bad_divide_field(struct rate *r) {
    r->count = 0;
    return r->total / r->count; //~ division-by-zero
}
int good_divide_field(struct rate *r) {
    r->count = 1;
    return r->total / r->count;
}

int bad_modulo(unsigned n, unsigned m) {
    while (m > 0)
        m /= 2;
    return n % m; //~ division-by-zero
}
int good_modulo(unsigned n, unsigned m) {
    while (m > 1)
        m /= 2;
    return m ? n % m : 0;
}

int bad_overflow(int a) {
    if (a == INT_MIN)
        return a / -1; //~ division-overflow
    return a;
}
int good_overflow(int a) {
    if (a == INT_MIN)
        return a;
    return a / -1;
}

void bad_assert_range(int n) {
    if (n > 10) {
        n -= 20;
        if (n > 0)
            assert(n <= 0); //~ assertion-failed
    }
}
void good_assert_range(int n) {
    if (n > 10) {
        n -= 20;
        if (n > 0)
            assert(n >= 1);
    }
}

void bad_state(struct rate *r) {
    r->step = 1;
    if (r->count > 5)
        r->step = 2;
    if (r->count > 6)
        assert(r->step == 1); //~ assertion-failed
}
void good_state(struct rate *r) {
    r->step = 1;
    if (r->count > 5)
        r->step = 2;
    if (r->count > 6)
        assert(r->step == 2);
}

int bad_precondition(struct rate *r, int n) {
    int first = n / r->step;
    if (r->step == 1)
        r->step = 0;
    if (r->total == 9 && r->step == 0)
        return first / r->step; //~ division-by-zero
    return first;
}
int good_precondition(struct rate *r, int n) {
    int first = n / r->step;
    if (r->total == 9)
        return first / r->step;
    return first;
}
