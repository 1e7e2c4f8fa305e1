//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// `strncat` is told the size of the buffer instead of what is left of it.
#include <string.h>
int main(int argc, char **argv) {
  char message[8] = "got ";
#ifdef FIXED
  strncat(message, argv[1], sizeof message - strlen(message) - 1);
#else
  strncat(message, argv[1], sizeof message);  //~ FAULT out-of-bounds-write  //~ NOT x86_64 -O2: in optimised code no address tells its variable
#endif
  return message[4] == 'x';  //~ ONLY x86_64 -O2 FAULT overwritten-return-address
}
