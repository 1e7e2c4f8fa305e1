// A writer dies of a pipe that nobody reads.
#include <signal.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int p[2], status;
  pipe(p);
  pid_t child = fork();
  if (child == 0) {
    close(p[0]);
    if (c & 1) signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 100000; i++)
      if (write(p[1], "0123456789abcdef", 16) < 0) _exit(7);
    _exit(0);
  }
  close(p[1]);
  char buffer[32];
  read(p[0], buffer, sizeof buffer);
  close(p[0]);
  waitpid(child, &status, 0);
  printf("%d %d %d\n", WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0);
  return 0;
}
