// `siglongjmp` out of a handler that interrupted deep calls.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static sigjmp_buf out;
static volatile int reached;
static void handler(int number) { siglongjmp(out, 1 + reached); }
static int deep(int n) {
  volatile int here = n;
  reached = n;
  if (n == 0) raise(SIGUSR1);
  return deep(n - 1) + here;
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGUSR1, handler);
  for (volatile int i = 0; i < 3; i++) {
    int came = sigsetjmp(out, 1);
    if (came) printf("%d back with %d\n", i, came);
    else deep((c & 3) + i);
  }
  return 0;
}
