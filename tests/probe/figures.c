// Figures 1 and 2 of paper 2: a function that locks a list and calls another one that locks it, too.
#include <assert.h>
#include <stddef.h>

typedef struct elem { int value; struct elem *next; } elem;
typedef struct list { int must_lock; int lock; elem *head; } list;

void lock(int *l) {
    assert(*l == 0); //~ assertion-failed
    *l = 1;
}
void unlock(int *l) {
    assert(*l == 1);
    *l = 0;
}
elem *list_head(list *lst) {
    elem *e;
    if (lst->must_lock)
        lock(&lst->lock);
    e = lst->head;
    if (lst->must_lock)
        unlock(&lst->lock);
    return e;
}
void bad_contrived(list *lst) {
    elem *e;
    if (lst->must_lock)
        lock(&lst->lock);
    e = list_head(lst);
    (void)e;
}
void good_contrived(list *lst) {
    elem *e;
    e = list_head(lst);
    if (lst->must_lock)
        lock(&lst->lock);
    (void)e;
}
