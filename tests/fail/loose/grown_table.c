//@ frontend: bitcode x86_64
//@ args: --sym-stdin 3
//@ options: --uninit report
// A table of pointers is made larger; its new places are not cleared.
#include <stdlib.h>
#include <unistd.h>
struct table { unsigned size; char **slots; };
static int put(struct table *t, unsigned key, char *value) {
  if (key >= t->size) {
    char **more = realloc(t->slots, 8 * sizeof *more);
    if (!more) exit(3);
#ifdef FIXED
    for (unsigned i = t->size; i < 8; i++) more[i] = NULL;
#endif
    t->slots = more;
    t->size = 8;
  }
  if (t->slots[key]) return 0;  //~ FAULT uninitialised-read: a branch depends on
  t->slots[key] = value;
  return 1;
}
int main(void) {
  unsigned char in[3];
  struct table t = {2, calloc(2, sizeof(char *))};
  if (!t.slots || read(0, in, 3) != 3) return 2;
  int added = 0;
  for (int i = 0; i < 3; i++)
    if (in[i] < 8) added += put(&t, in[i], "value");
  free(t.slots);
  return added == 0;
}
