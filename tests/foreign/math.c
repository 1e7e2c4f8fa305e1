#include <math.h>
#include <stdio.h>
int main(int argc, char **argv) {
    double x = argc + 0.5;
    printf("%.17g %.17g %.17g\n", sqrt(x), floor(-x), ceil(x));
    printf("%.17g %.17g %.17g\n", fmod(10 * x, 4), fabs(-x), ldexp(x, 5));
    int e;
    double whole, part = modf(x * 3, &whole), m = frexp(x * 9, &e);
    printf("%.17g %.17g %.17g %d\n", part, whole, m, e);
    printf("%.12g %.12g %.12g %.12g\n", exp(x), log(x), pow(x, 3.3), sin(x));
    printf("%.12g %.12g %.12g\n", atan2(x, 2), cosh(x), cbrt(x));
    printf("%d %d %d %ld\n", isnan(NAN) != 0, isinf(INFINITY) != 0, signbit(-0.0) != 0, lrint(x));
    printf("%.6g %.6g\n", (double)fmodl(x * 7, 3), (double)sqrtf((float)x));
    return 0;
}
