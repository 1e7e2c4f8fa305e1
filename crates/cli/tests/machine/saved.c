/* Callers keep numbers in registers that their callees save: two states are equal only if these are. After each round most is forgotten. */
#include <stdio.h>
#include <unistd.h>

static int read_one(void) {
    unsigned char c = 0;
    return read(0, &c, 1) == 1 ? c : -1;
}

static void event(const char *name) {
    FILE *file = fopen(name, "r");
    if (file)
        fclose(file);
}

/* Saves what its caller keeps, by using as many registers itself. */
static __attribute__((noinline)) int inner(int a, int b) {
    int c = read_one(), d = a + b, e = a - b;
    if (c == 'z')
        event("/dev/null");
    int f = read_one();
    if (f == 'y')
        event("/dev/null");
    return (d ^ e ^ a ^ b) & 0;
}

static __attribute__((noinline)) int middle(int a) {
    int b = inner(a, 1);
    return b + inner(1, a);
}

int main(void) {
    int first = read_one(), kept = first == 'a' ? 1 : first == 'b' ? 2 : 3;
    int rest = middle(0);
    if (kept + rest == 1)
        event("/dev/null");
    if (kept + rest == 2) {
        FILE *file = fopen("/dev/null", "r");
        if (file)
            fclose(file);
        event("/dev/null");
    }
    return 0;
}
