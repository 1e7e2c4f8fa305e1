// For an argument of 65,536 symbolic bytes: a decision for each, and a library function over all.
#include <string.h>
int main(int argc, char **argv) {
  unsigned n = 0;
  for (char *p = argv[1]; *p; p++) n += *p == 'x';
  return n > 3 && strchr(argv[1], 'y') ? 1 : 0;
}
