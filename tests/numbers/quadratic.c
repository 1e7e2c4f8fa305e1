// The quadratic formula on an integer in text: `cargo xtask gate numbers`.
#include "each.h"
#include <math.h>
#include <stdlib.h>

static int classify(const char *text) {
  double b = atoi(text), c = 6, square = b * b - 4 * c;
  if (square < 0)
    return 1;
  double x = (-b + sqrt(square)) / 2;
  if (x == 2)
    return 2;
  return x > 0.5 ? 3 : x == x * x ? 4 : 0;
}
