//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ options: --rule memory-leak
/* realloc's cases: what it gave is freed, but not where growing failed; and a line's buffer is the program's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *p = realloc(NULL, 4);  //~ VIOLATION memory-leak: memory from `realloc` is never freed
  char *q = strdup(argv[1]);
  strcpy(p, "abc");
  if (argv[1][0] == 'g') p = realloc(p, 16);
  if (argv[1][0] == 'h') {
    char *huge = realloc(p, (size_t)1 << 40);
    if (!huge) {
#ifdef FIXED
      free(p);
#endif
      p = NULL;
    }
  }
  free(p);
  free(q);
  return 0;
}
