// Variables of the program: their values are not known either.
#include <assert.h>
#include <stdlib.h>

static int depth;
static int ready = 1;
static struct entry { int key; struct entry *next; } *head;
static char *cache;

void bad_lock_twice(void) {
    assert(depth == 0);
    depth = 1;
    if (ready == 3) {
        assert(depth == 0); //~ assertion-failed
        depth = 1;
    }
}
void good_lock_twice(void) {
    assert(depth == 0);
    depth = 1;
    if (ready == 3) {
        assert(depth == 1);
        depth = 0;
    }
}

int bad_empty_head(void) {
    if (head == NULL)
        return head->key; //~ null-dereference
    return 0;
}
int good_empty_head(void) {
    if (head == NULL)
        return 0;
    return head->key;
}

void bad_drop_cache(int again) {
    free(cache);
    if (again)
        free(cache); //~ double-free
    cache = NULL;
}
void good_drop_cache(int again) {
    free(cache);
    cache = NULL;
    if (again)
        free(cache);
}

// `ready` begins as 1, but its callers may have changed it.
int good_initial_value(int n) {
    return n / (ready - 1);
}
int bad_initial_value(int n) {
    if (ready != 1)
        return 0;
    return n / (ready - 1); //~ division-by-zero
}
