// A handler that leaves by `siglongjmp`: the mask is restored if it was saved, and stays as in the handler if not.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static sigjmp_buf out;
static volatile int tries;
static void handler(int number) { siglongjmp(out, number); }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGUSR1, handler);
  int number = sigsetjmp(out, c & 1);
  sigset_t now;
  sigprocmask(SIG_BLOCK, 0, &now);
  printf("%d, blocked %d\n", number, sigismember(&now, SIGUSR1));
  if (tries++ < 3 && !sigismember(&now, SIGUSR1)) raise(SIGUSR1);
  return tries;
}
