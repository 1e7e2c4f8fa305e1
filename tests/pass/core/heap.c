//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
#include <stdlib.h>
int main(int argc, char **argv) {
  char *p = malloc(4), *z = calloc(2, 4);
  p[0] = argv[1][0];
  p[3] = 9;
  p = realloc(p, 100);
  p[99] = 1;
  int r = p[0] == 'q' ? p[3] : z[7];
  free(p);
  free(z);
  free(0);
  return r;
}
