// What signals do that the program says nothing of.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  static const int numbers[] = {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGALRM, SIGCHLD, SIGURG, SIGWINCH, SIGCONT, SIGKILL, SIGPIPE, SIGXCPU};
  unsigned char c = 0;
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  printf("before\n");
  raise(numbers[c % 12]);
  printf("after\n");
  return 9;
}
