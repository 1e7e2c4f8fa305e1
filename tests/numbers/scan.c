// Numbers read by `sscanf` and by `strtod` with an end: `cargo xtask gate numbers`.
#include "each.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int classify(const char *text) {
  float f = 0;
  int read = -1;
  char *end;
  int count = sscanf(text, "%3f%n", &f, &read);
  errno = 0;
  double d = strtod(text, &end);
  printf("%d %d %d %d ", count, read, (int)(end - text), errno);
  if (signbit(d))
    return d == 0 ? 1 : 2;
  return f > 12.5 ? 3 : d * 4 == f ? 4 : isinf(d) ? 5 : 0;
}
