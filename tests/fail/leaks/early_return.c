//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
//@ options: --leaks
/* A copy is freed on every way out but one. */
#include <stdlib.h>
#include <string.h>
static int parse(const char *text) {
  char *copy = strdup(text);  //~ FAULT memory-leak: bytes in 1 object
  if (!copy) return 2;
  if (copy[0] == '-' && copy[1] != 'v') {
#ifdef FIXED
    free(copy);
#endif
    return 1;
  }
  free(copy);
  return 0;
}
int main(int argc, char **argv) {
  return parse(argv[1]);
}
