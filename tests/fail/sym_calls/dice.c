//@ frontend: bitcode x86_64
//@ args: --sym-calls rand
// A die has one side more than its table.
#include <stdlib.h>
int main(void) {
  static const int points[6] = {1, 2, 3, 4, 5, 6};
  int sum = 0;
  for (int i = 0; i < 2; i++) {
#ifdef FIXED
    sum += points[rand() % 6];
#else
    sum += points[rand() % 7];  //~ FAULT out-of-bounds-read: offset 24 of  //~ NOT x86_64 -O2: in optimised code no address tells its variable
#endif
  }
  return sum == 12;
}
