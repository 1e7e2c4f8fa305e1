// Each process forks the next.
#include <sys/wait.h>
#include "input.h"
static int depth(int n) {
  if (n == 0) return 1;
  int status;
  if (fork() == 0) _exit(depth(n - 1));
  wait(&status);
  return WEXITSTATUS(status) + 2;
}
int main(void) {
  unsigned char c = input();
  int n = depth(c & 3);
  printf("%d\n", n);
  return n;
}
