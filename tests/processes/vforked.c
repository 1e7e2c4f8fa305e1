// vfork, and a child that only ends.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int status;
  pid_t child = vfork();
  if (child == 0) _exit(c & 3);
  waitpid(child, &status, 0);
  printf("%d\n", WEXITSTATUS(status));
  return 0;
}
