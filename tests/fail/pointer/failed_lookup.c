//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A variable is looked up by name, and used without asking whether it was found.
#include <string.h>
struct variable { const char *name; int value; };
static struct variable variables[] = {{"pc", 1}, {"sp", 2}, {"ra", 3}};
static struct variable *look_up(const char *name) {
  for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++)
    if (strcmp(variables[i].name, name) == 0) return &variables[i];
  return NULL;
}
int main(int argc, char **argv) {
  if (argv[1][0] != '$') return 1;
  struct variable *v = look_up(argv[1] + 1);
#ifdef FIXED
  if (!v) return 1;
#endif
  return v->value == 2;  //~ FAULT null-dereference: read of 4 bytes
}
