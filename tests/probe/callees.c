/* What a callee accepts says nothing of what its caller is given, unless the caller looks at what the callee found. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

struct state { int kind; int passes; int *table; struct state *next; unsigned bits; };

static int fixed[16];

/* The allocator of a library: it never gives null to those who have a state. */
static APART int *table_of(struct state *s) {
    if (s == NULL)
        return NULL;
    return s->kind ? fixed : fixed + 8;
}
int good_allocates(struct state *s) {
    int *table = table_of(s);
    table[0] = 1;
    return table[1];
}
int bad_allocates(struct state *s) {
    int *table = table_of(s);
    int many = 0;
    if (table == NULL)
        many = 1;
    table[0] = many; //~ null-dereference
    return many;
}

/* Null and most states have the same result. */
static APART int passes_of(struct state *s) {
    if (s != NULL && s->passes > 0)
        return 7;
    return 1;
}
int good_counts(struct state *s) {
    int passes = passes_of(s);
    if (passes == 0)
        return 0;
    return s->kind + passes;
}

static APART int is_there(struct state *s) {
    if (s == NULL)
        return 0;
    return 1;
}
int bad_counts(struct state *s) {
    if (!is_there(s))
        return s->kind; //~ null-dereference
    return 1;
}

/* Without a result there is nothing to look at. */
static APART void reset(struct state *s) {
    if (s == NULL)
        return;
    s->passes = 0;
}
int good_resets(struct state *s) {
    reset(s);
    return s->kind;
}
int bad_resets(struct state *s) {
    reset(s);
    if (s == NULL)
        return s->kind; //~ null-dereference
    return 0;
}

/* Who asks for something that is there need not ask twice. */
static APART struct state *find(struct state *s, int kind) {
    while (s != NULL && s->kind != kind)
        s = s->next;
    return s;
}
int good_finds(struct state *s) {
    return find(s, 3)->passes;
}
int bad_finds(struct state *s) {
    struct state *found = find(s, 3);
    if (found)
        return found->passes;
    return found->kind; //~ null-dereference
}

/* That a loop may have no round does not say that there is nothing. */
int good_fills(size_t n) {
    char *all = malloc(n);
    if (all == NULL)
        return 0;
    for (size_t i = 0; i < n; i++)
        all[i] = 1;
    int first = all[0];
    free(all);
    return first;
}
int bad_fills(size_t n) {
    char *all = malloc(n);
    if (all == NULL)
        return 0;
    if (n == 0)
        return all[0]; //~ out-of-bounds-read
    for (size_t i = 0; i < n; i++)
        all[i] = 1;
    int first = all[0];
    free(all);
    return first;
}

/* A loop that runs until a count is reached does not say that the count may be so large. */
int good_shifts(struct state *s) {
    unsigned have = 0;
    while (have < s->bits)
        have += 8;
    return (int)(1u << s->bits) + (int)have;
}
int bad_shifts(struct state *s) {
    int have = 0;
    if (s->bits > 40) {
        reset(s);
        have = 1 << s->bits; //~ shift-too-far
    }
    return have;
}

/* What a callee has found may be told through memory. */
static int failed;
static APART void note_failure(struct state *s) {
    failed = 0;
    if (s == NULL)
        failed = 1;
}
int bad_noted_globally(struct state *s) {
    note_failure(s);
    if (failed)
        return s->kind; //~ null-dereference
    return 1;
}
int good_noted_globally(struct state *s) {
    note_failure(s);
    if (failed)
        return 0;
    return s->kind;
}
static APART void check_into(struct state *s, int *is_bad) {
    if (s == NULL)
        *is_bad = 1;
    else
        *is_bad = 0;
}
int bad_result_by_pointer(struct state *s) {
    int is_bad;
    check_into(s, &is_bad);
    return is_bad ? s->kind : 0; //~ null-dereference
}
int good_result_by_pointer(struct state *s) {
    int is_bad;
    check_into(s, &is_bad);
    return is_bad ? 0 : s->kind;
}
struct log { int errors; };
static APART void check_log(struct log *log, struct state *s) {
    log->errors = 0;
    if (s == NULL)
        log->errors++;
}
int bad_logged(struct log *log, struct state *s) {
    check_log(log, s);
    if (log->errors)
        return s->kind; //~ null-dereference
    return 0;
}
int good_logged(struct log *log, struct state *s) {
    check_log(log, s);
    return log->errors ? 0 : s->kind;
}

/* An average of nothing: that the loop has no round says nothing of the count. */
int good_average(const int *all, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += all[i];
    return sum / n;
}
int bad_average(const int *all, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += all[i];
    if (n == 0)
        return sum / n; //~ division-by-zero
    return sum;
}

/* A callee that handles a width does not say that its caller has it. */
static APART unsigned mask_of(unsigned bits) {
    if (bits >= 32)
        return ~0u;
    return (1u << bits) - 1;
}
int good_masks(struct state *s) {
    return (int)(mask_of(s->bits) >> s->bits);
}

/* What a loop would have made is not there because the loop has no round here: callers have a list that is not empty. */
int good_last(struct state *s) {
    struct state *last = NULL;
    for (; s != NULL; s = s->next)
        last = s;
    return last->kind;
}
int bad_last(struct state *s) {
    struct state *last = NULL;
    for (; s != NULL; s = s->next)
        last = s;
    if (last == NULL)
        return last->kind; //~ null-dereference
    return 0;
}
int good_mean(struct state *s) {
    int n = 0, sum = 0;
    for (; s != NULL; s = s->next, n++)
        sum += s->kind;
    return sum / n;
}
int bad_search(struct state *s) {
    struct state *found = NULL;
    for (; s != NULL; s = s->next)
        if (s->kind == 1)
            found = s;
    if (found != NULL)
        return 1;
    return found->kind; //~ null-dereference
}
int good_search(struct state *s) {
    struct state *found = NULL;
    for (; s != NULL; s = s->next)
        if (s->kind == 1)
            found = s;
    return found ? found->kind : 0;
}

/* A choice of two functions is a decision of the code, whatever became of their addresses. */
static APART int is_null(void *p) {
    return p == NULL;
}
static APART int is_not_null(void *p) {
    return p != NULL;
}
int bad_chosen(struct state *s, int which) {
    int (*ask)(void *) = which ? is_null : is_not_null;
    if (ask(s) == (which != 0))
        return s->kind; //~ null-dereference
    return 0;
}
int good_chosen(struct state *s, int which) {
    int (*ask)(void *) = which ? is_null : is_not_null;
    if (ask(s) == (which != 0))
        return 0;
    return s->kind;
}
