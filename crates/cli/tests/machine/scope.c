/* Variables of the functions in progress where a fault is: of every kind, nested, and of callers. */
#include <stdlib.h>

enum color { RED, GREEN = 5 };
struct point { int x; short y[2]; const char *name; };

__attribute__((noinline)) static int fill(char *to, unsigned long count, struct point at, double scale) {
    enum color color = GREEN;
    char text[6] = "ab";
    int sum = (int)scale;
    for (unsigned i = 0; i < count; i++) {
        signed char step = -3;
        to[i] = step;
        sum += to[i] + at.x + text[color - 5];
    }
    return sum;
}

int main(int argc, char **argv) {
    struct point at = {-7, {1, 2}, argv[1]};
    int kept = argc + 40;
    char *to = malloc(4);
    if (!to || argv[1][0] != 'n') return 0;
    int got = fill(to, argv[1][1] == '\2' ? 6 : 3, at, 2.5);
    free(to);
    return (got + kept + at.y[1]) & 1;
}
