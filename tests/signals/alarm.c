//@ inputs: 8
// `alarm` and a wait that it ends.
#include <errno.h>
#include <signal.h>
#include "input.h"
static volatile sig_atomic_t rang;
static void handler(int number) { rang = number; }
int main(void) {
  unsigned char c = input();
  if (c != 'd') signal(SIGALRM, handler);
  printf("%u\n", alarm(10));
  printf("%u\n", alarm(1));
  if (c & 1) printf("%u\n", alarm(0));
  else {
    int result = pause();
    printf("%d %d\n", result, errno == EINTR);
  }
  return rang;
}
