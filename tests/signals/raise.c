// A handler that `raise` calls, once for each time.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t count;
static void handler(int number) { count += number == SIGUSR1; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGUSR1, handler);
  for (int i = 0; i < c % 4; i++) {
    raise(SIGUSR1);
    printf("raised %d\n", (int)count);
  }
  return count;
}
