//@ handles faults
// A division by zero and a null pointer are found, although the program handles their signals.
#include <setjmp.h>
#include <signal.h>
#include "input.h"
static sigjmp_buf out;
static void handler(int number) { siglongjmp(out, number); }
int main(void) {
  unsigned char c = input();
  signal(SIGFPE, handler);
  signal(SIGSEGV, handler);
  int number = sigsetjmp(out, 1);
  if (number) {
    printf("caught %d\n", number);
    return 1;
  }
  int *volatile p = 0;
  volatile int zero = 0;
  if (c == 'n') return *p;
  if (c == 'z') return 3 / zero;
  if (c == 'r') raise(SIGSEGV);
  return 2;
}
