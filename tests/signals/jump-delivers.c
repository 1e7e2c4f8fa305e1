// `siglongjmp` restores a mask that lets a pending signal through.
#include <setjmp.h>
#include <signal.h>
#include "input.h"
static sigjmp_buf out;
static void count(int number) { printf("delivered %d\n", number); }
static void leave(int number) {
  raise(SIGUSR1);
  if (number == SIGUSR2) siglongjmp(out, 1);
}
int main(void) {
  unsigned char c = input();
  struct sigaction action = {.sa_handler = leave};
  sigaddset(&action.sa_mask, SIGUSR1);
  signal(SIGUSR1, count);
  sigaction(SIGUSR2, &action, 0);
  sigaction(SIGTERM, &action, 0);
  if (sigsetjmp(out, 1)) {
    printf("jumped\n");
    return 4;
  }
  raise(c & 1 ? SIGUSR2 : SIGTERM);
  printf("returned\n");
  return 5;
}
