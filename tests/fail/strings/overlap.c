//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A text is moved right by one to make room for a sign: its terminator leaves the buffer.
#include <string.h>
int main(int argc, char **argv) {
  char number[5];
  strcpy(number, argv[1]);
  if (number[0] < '0' || number[0] > '9') return 1;
#ifdef FIXED
  if (strlen(number) + 1 >= sizeof number) return 2;
#endif
  memmove(number + 1, number, strlen(number) + 1);  //~ FAULT out-of-bounds-write  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  number[0] = '+';
  return number[1] == '7';
}
