//@ frontend: bitcode x86_64
//@ args: --sym-arg 5
// A name is copied into a field that is too short for the longest.
#include <string.h>
struct host { char name[5]; };
static struct host hosts[1];
static int add(const char *name) {
  if (name[0] == '\0' || name[0] == '.') return 1;
#ifdef FIXED
  if (strlen(name) >= sizeof hosts[0].name) return 1;
#endif
  strcpy(hosts[0].name, name);  //~ FAULT out-of-bounds-write  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  return 0;
}
int main(int argc, char **argv) { return add(argv[1]); }
