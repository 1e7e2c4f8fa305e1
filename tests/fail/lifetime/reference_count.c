//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// A reference is dropped that was never taken.
#include <stdlib.h>
struct object { int references; };
static void drop(struct object *o) {
  if (--o->references == 0) free(o);  //~ FAULT use-after-free: read of 4 bytes at offset 0
}
int main(int argc, char **argv) {
  struct object *o = malloc(sizeof *o);
  if (!o) return 3;
  o->references = 1;
  int held = 0;
  for (const char *p = argv[1]; *p; p++) {
    if (*p == 't') {
      o->references++;  //~ FAULT use-after-free: read of 4 bytes at offset 0
      held++;
    } else if (*p == 'd') {
#ifdef FIXED
      if (held == 0) break;
#endif
      held--;
      drop(o);
    }
  }
  drop(o);
  return 0;
}
