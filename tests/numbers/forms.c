// Numbers printed in several forms: `cargo xtask gate numbers`.
#include "each.h"
#include <stdio.h>
#include <stdlib.h>

static int classify(const char *text) {
  float f = strtof(text, 0);
  long double l = strtold(text, 0);
  printf("%.1f %.2e %a %Lg ", f, f / 3, f, l * l);
  return f < 1;
}
