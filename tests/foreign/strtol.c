#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    const char *texts[] = {"12", "-0x7f", "0777", "99999999999999999999", "  +5x", "", "zz", "-9223372036854775808"};
    for (int i = 0; i < 8; i++) {
        char *end;
        errno = 0;
        long v = strtol(texts[i], &end, 0);
        printf("%ld %d %d ", v, (int)(end - texts[i]), errno);
        errno = 0;
        unsigned long u = strtoul(texts[i], &end, 36);
        printf("%lu %d\n", u, errno);
    }
    printf("%.10g %.10g %.10g %d\n", strtod("1e10", 0), strtod("-0.1", 0), strtod("0x1.8p3", 0), atoi("345abc"));
    return 0;
}
