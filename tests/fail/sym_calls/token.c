//@ frontend: bitcode x86_64
//@ args: --sym-calls getrandom,getpid
// A token of random bytes is taken to have no zero byte.
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
int main(void) {
  char token[4] = {0}, copy[4];
  if (getpid() < 1) return 9;
  if (getrandom(token, 3, 0) != 3) return 8;
#ifdef FIXED
  if (strlen(token) != 3) return 1;
#endif
  strcpy(copy, token);
  return copy[strlen(copy) - 3 + (getpid() == 77)] == 'x';  //~ FAULT out-of-bounds-read: of `copy`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
}
