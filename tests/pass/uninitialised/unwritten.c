//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
//@ options: --uninit report
/* Memory that was never written is read, copied, masked out and chosen away, and decides nothing. */
#include <stdlib.h>
#include <string.h>
struct flags { unsigned a : 3, b : 5; char rest[3]; };
int main(int argc, char **argv) {
  struct flags f, g;
  f.a = argv[1][0] & 7;
  g = f;
  if (g.a == 5) return 1;
  int known = argv[1][0] == 'k', x;
  if (known) x = 3;
  if (known && x == 3) return 2;
  char *p = malloc(64), *q;
  strcpy(p, argv[1]);
  q = realloc(p, 128);
  int long_enough = strlen(q) > 2;
  free(q);
  return long_enough ? 3 : 0;
}
