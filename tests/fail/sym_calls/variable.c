//@ frontend: bitcode, the replay library of the executable takes variables away
//@ args: --sym-calls getenv:6
// A variable may be unset, and may be longer than its copy; it is the same each time.
#include <stdlib.h>
#include <string.h>
int main(void) {
  char copy[6];
  const char *level = getenv("LEVEL");
  const char *name = getenv("NAME");
  if (getenv("LEVEL") != level) return 9;
#ifdef FIXED
  if (!level || !name || strlen(name) > 5) return 1;
#endif
  int high = level[0] == '9';   //~ FAULT null-dereference
  for (int i = 0; name && (i == 0 || name[i - 1]); i++)
    copy[i] = name[i];  //~ FAULT out-of-bounds-write: offset 6 of `copy`
  return high + (name && copy[0] == 'x');
}
