// The parts of a number by the functions of mathematics, and by its bits: `cargo xtask gate numbers`.
#include "each.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int classify(const char *text) {
  double d = strtod(text, 0), whole;
  int exponent;
  uint64_t bits;
  double fraction = modf(d / 8, &whole);
  double mantissa = frexp(d, &exponent);
  memcpy(&bits, &d, sizeof bits);
  if (fraction > 0.5 && whole == 3)
    return 1;
  if (mantissa == 0.625 && exponent == 4)
    return 2;
  if ((bits >> 52 & 0x7ff) == 1030)
    return 3;
  return (bits & 0xfffff) == 7 ? 4 : floor(d) != d ? 5 : 0;
}
