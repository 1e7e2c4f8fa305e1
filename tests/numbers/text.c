// A number in text is compared: `cargo xtask gate numbers`.
#include "each.h"
#include <stdlib.h>

static int classify(const char *text) {
  double x = atof(text);
  if (x > 100)
    return 1;
  if (x == 2.25)
    return 2;
  if (x < 0)
    return 3;
  return x != x ? 4 : 0;
}
