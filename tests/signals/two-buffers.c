//@ bitcode
// Jumps out of a nested handler, to the outer handler or to the program.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static sigjmp_buf program, outer;
static unsigned char c;
static void inner(int number) {
  printf("inner\n");
  siglongjmp(c & 1 ? program : outer, 1);
}
static void handler(int number) {
  if (sigsetjmp(outer, 1)) {
    printf("back in the handler\n");
    return;
  }
  raise(SIGUSR2);
}
int main(void) {
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  signal(SIGUSR1, handler);
  signal(SIGUSR2, inner);
  if (sigsetjmp(program, 1)) printf("back in the program\n");
  else raise(SIGUSR1);
  sigset_t now;
  sigprocmask(0, 0, &now);
  return sigismember(&now, SIGUSR1) + 2 * sigismember(&now, SIGUSR2);
}
