//@ frontend: bitcode, the replay library of the executable takes variables away
//@ args: --sym-calls getenv:3,rand
// What the program sets itself is no input, and the library's object with `rand` comes with `srand`.
#include <stdlib.h>
#include <string.h>
int main(void) {
  srand(7);
  setenv("MODE", "own", 1);
  if (strcmp(getenv("MODE"), "own")) abort();
  const char *other = getenv("OTHER");
  int numbers[4] = {0};
  unsigned at = (unsigned)rand() % 5;
#ifdef FIXED
  if (at > 3 || !other) return 1;
#endif
  numbers[at] = 1;  //~ FAULT out-of-bounds-write
  return other[0] + numbers[0];  //~ FAULT null-dereference
}
