// Calls of functions that are defined nowhere: their results are unknown, what the code tests of them is not.
#include <assert.h>
#include <stdlib.h>

struct device { int state; int users; void *private_data; };
extern int device_start(struct device *d);
extern void *device_memory(struct device *d);
extern void log_line(const char *text);

int bad_result(struct device *d) {
    void *p = device_memory(d);
    if (!p)
        return *(int *)p; //~ null-dereference
    return 0;
}
int good_result(struct device *d) {
    void *p = device_memory(d);
    if (!p)
        return 0;
    return *(int *)p;
}

int bad_after_call(struct device *d) {
    int users = 0;
    log_line("start");
    if (device_start(d) < 0)
        return 10 / users; //~ division-by-zero
    return 0;
}
// What the call may have changed is not known any more.
int good_after_call(struct device *d) {
    d->users = 0;
    if (device_start(d) < 0)
        return 0;
    return 10 / d->users;
}

void bad_free_private(struct device *d) {
    void *p = d->private_data;
    free(p);
    log_line("freed");
    if (d->state == 1)
        free(p); //~ double-free
}
void good_free_private(struct device *d) {
    free(d->private_data);
    d->private_data = NULL;
    log_line("freed");
    if (d->state == 1)
        free(d->private_data);
}

int bad_assembly(int n) {
    int zero = 0, out;
    __asm__ volatile("cpuid" : "=a"(out) : "a"(n) : "ebx", "ecx", "edx");
    if (out == 5)
        return n / zero; //~ division-by-zero
    return out;
}
int good_assembly(int n) {
    int one = 1, out;
    __asm__ volatile("cpuid" : "=a"(out) : "a"(n) : "ebx", "ecx", "edx");
    if (out == 5)
        return n / one;
    return out;
}
