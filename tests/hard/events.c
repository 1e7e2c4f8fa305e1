// Many sequences of events: each character decides whether a file is opened, and whether it is closed.
#include <stdio.h>
int main(int argc, char **argv) {
  for (char *p = argv[1]; *p; p++) {
    FILE *f = *p == 'x' ? fopen("/dev/null", "r") : 0;
    if (f && p[1] != 'y') fclose(f);
  }
  return 0;
}
