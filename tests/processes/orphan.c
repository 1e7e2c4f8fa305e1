// The parent ends first.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int p[2], status;
  pipe(p);
  if (fork() == 0) {
    if (fork() == 0) {
      close(p[0]);
      usleep(20000);
      write(p[1], &c, 1);
      _exit(9);
    }
    _exit(3);
  }
  close(p[1]);
  char x = 0;
  wait(&status);
  int n = read(p[0], &x, 1);
  printf("%d %d %d\n", WEXITSTATUS(status), n, x == (char)c);
  return c > 100 ? 1 : 0;
}
