//@ frontend: bitcode, machine code does not say which results may wrap
//@ options: --overflow signed
//@ args: --sym-arg 11
// Digits become a number, however many there are.
#include <limits.h>
int main(int argc, char **argv) {
  int number = 0;
  for (const char *p = argv[1]; *p; p++) {
    if (*p < '0' || *p > '9') return 2;
#ifdef FIXED
    if (number > (INT_MAX - 9) / 10) return 1;
#endif
    number = number * 10 + (*p - '0');  //~ FAULT signed-overflow: * 10 overflows `int` //~ FAULT signed-overflow: + 9 overflows `int`
  }
  return number == 7;
}
