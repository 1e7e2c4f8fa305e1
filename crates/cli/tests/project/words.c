#include "words.h"

int words(const char *text) {
  int n = 0;
  for (char before = ' '; *text; before = *text++)
    n += before == ' ' && *text != ' ';
  return n;
}
