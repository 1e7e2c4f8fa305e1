//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// A table of options has places for their values; the last option was added without one.
#include <string.h>
struct option { const char *name; int *value; };
static int level;
static int apply(struct option *options, int count, const char *arg) {
  for (int i = 0; i < count; i++) {
    struct option *o = &options[i];
    if (strcmp(o->name, arg) != 0) continue;
#ifdef FIXED
    if (!o->value) return 1;
#endif
    *o->value = 1;  //~ FAULT null-dereference: write of 4 bytes
    return 0;
  }
  return 1;
}
int main(int argc, char **argv) {
  int verbose = 0;
  struct option options[] = {{"-v", &verbose}, {"-l", &level}, {"-x"}};
  return apply(options, 3, argv[1]) + verbose;
}
