// What is left of a sleep that a child's signal interrupts.
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "input.h"
static void handler(int number) {}
int main(void) {
  unsigned char c = input();
  pid_t me = getpid();
  signal(SIGUSR1, handler);
  if (fork() == 0) {
    usleep(20000);
    if (c & 1) kill(me, SIGUSR1);
    _exit(0);
  }
  struct timespec t = {0, 200000000}, rest = {5, 5};
  int done = nanosleep(&t, &rest);
  wait(NULL);
  printf("%d %d\n", done != 0, (int)rest.tv_sec);
  return 0;
}
