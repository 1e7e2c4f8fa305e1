// What signals do that the program says nothing of.
#include <signal.h>
#include "input.h"
int main(void) {
  static const int numbers[] = {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGALRM, SIGCHLD, SIGURG, SIGWINCH, SIGCONT, SIGKILL, SIGPIPE, SIGXCPU};
  unsigned char c = input();
  printf("before\n");
  raise(numbers[c % 12]);
  printf("after\n");
  return 9;
}
