// WNOHANG in a loop.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int p[2], status = 0;
  pipe(p);
  pid_t child = fork();
  if (child == 0) {
    char x;
    read(p[0], &x, 1);
    _exit(x & 1);
  }
  printf("%d\n", waitpid(child, &status, WNOHANG));
  write(p[1], &c, 1);
  pid_t got;
  while ((got = waitpid(child, &status, WNOHANG)) == 0) usleep(1000);
  printf("%d %d\n", got == child, WEXITSTATUS(status));
  return 0;
}
