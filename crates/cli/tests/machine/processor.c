#include <fenv.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <ucontext.h>

static ucontext_t first, other;
static char stack[1 << 15];
static int c, made;

static void coroutine(void) {
  made = c > 9 ? 2 : 1;
  swapcontext(&other, &first);
  made += 4;
}

int main(void) {
  c = getchar();
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  other.uc_link = &first;
  makecontext(&other, coroutine, 0);
  swapcontext(&first, &other);
  swapcontext(&first, &other);
  _Atomic unsigned char byte = 250;
  _Atomic unsigned short half = 65000;
  int before = byte++ + half++;
  byte += c & 7;
  half += c;
  if (fesetround(FE_TONEAREST) || before != 65250 || byte == 0) return 9;
  if (nearbyint(c * 0.5) == 100 && remainder(c, 3) == 1) return 8;
  return half > 65100 ? made + 8 : made;
}
