// A number in text is printed, and read again: `cargo xtask gate numbers`.
#include "each.h"
#include <stdio.h>
#include <stdlib.h>

static int classify(const char *text) {
  char printed[64];
  double x = atof(text);
  snprintf(printed, sizeof printed, "%g", x);
  printf("%s ", printed);
  return atof(printed) != x;
}
