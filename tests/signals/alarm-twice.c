//@ inputs: 4
// An alarm replaces the one before; a handler may set the next.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t rings;
static void handler(int number) {
  if (++rings < 2) alarm(1);
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGALRM, handler);
  alarm(100);
  printf("%u\n", alarm(1));
  pause();
  if (c & 1) pause();
  printf("%d\n", (int)rings);
  printf("%u\n", alarm(0));
  return rings;
}
