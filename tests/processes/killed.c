// A child is killed by its parent.
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int status;
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  int number = c & 1 ? SIGKILL : c & 2 ? SIGTERM : SIGUSR1;
  printf("%d\n", kill(child, 0));
  kill(child, number);
  waitpid(child, &status, 0);
  printf("%d %d %d\n", WIFSIGNALED(status), WTERMSIG(status) == number, kill(child, 0));
  return 0;
}
