#include <stdio.h>
static int calls;
int second(int n) { return printf("second %d\n", n) + ++calls; }
