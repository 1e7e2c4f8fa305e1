// Two pipes, question and answer.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int to[2], from[2], status;
  pipe(to);
  pipe(from);
  if (fork() == 0) {
    unsigned char x;
    close(to[1]); close(from[0]);
    while (read(to[0], &x, 1) == 1) {
      x = x > 99 ? x - 99 : x + 1;
      write(from[1], &x, 1);
    }
    _exit(2);
  }
  close(to[0]); close(from[1]);
  for (int i = 0; i < 3; i++) {
    write(to[1], &c, 1);
    read(from[0], &c, 1);
  }
  close(to[1]);
  wait(&status);
  printf("%d %d\n", c > 50, WEXITSTATUS(status));
  return 0;
}
