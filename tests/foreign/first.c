#include <stdio.h>
int second(int n);
int first(int n) { return second(n) * 10 + 1; }
