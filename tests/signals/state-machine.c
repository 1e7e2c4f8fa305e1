// A flag that a handler sets and a loop that looks at it.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t stop, seen;
static void on_stop(int number) { stop = 1; }
static void on_step(int number) { seen++; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGINT, on_stop);
  signal(SIGUSR1, on_step);
  int steps = 0;
  while (!stop) {
    steps++;
    raise(SIGUSR1);
    if (steps == (c & 7) || steps == 9) raise(SIGINT);
  }
  printf("%d %d\n", steps, (int)seen);
  return steps;
}
