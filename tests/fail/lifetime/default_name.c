//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// A name is the user's copy or a default; only one of them is from the heap.
#include <stdlib.h>
#include <string.h>
static char *name;
static void set(const char *value) {
  static char fallback[] = "none";
#ifdef FIXED
  name = strdup(value[0] ? value : fallback);
#else
  name = value[0] ? strdup(value) : fallback;
#endif
}
int main(int argc, char **argv) {
  set(argv[1]);
  int status = name && name[0] == 'x';
  free(name);  //~ FAULT invalid-free
  return status;
}
