// `kill` of the own process, with every way to name it.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t last;
static void handler(int number) { last = number; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGTERM, handler);
  signal(SIGHUP, handler);
  int result = kill(getpid(), c & 1 ? SIGTERM : SIGHUP);
  printf("%d %d\n", result, (int)last);
  if (c & 2) printf("exists %d\n", kill(getpid(), 0));
  if (c & 4) printf("invalid %d\n", kill(getpid(), 65));
  return last;
}
