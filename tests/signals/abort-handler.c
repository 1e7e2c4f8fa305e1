// `abort` with a handler: it is called, and then the program ends all the same, unless the handler jumps out.
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include "input.h"
static sigjmp_buf out;
static void jump(int number) { siglongjmp(out, number); }
static void say(int number) { printf("aborting by %d\n", number); }
int main(void) {
  unsigned char c = input();
  switch (c & 3) {
  case 0: signal(SIGABRT, jump); break;
  case 1: signal(SIGABRT, say); break;
  case 2: signal(SIGABRT, SIG_IGN); break;
  }
  if (sigsetjmp(out, 1)) return 7;
  abort();
}
