// The child of vfork goes first.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  for (int i = 0; i < 1 + (c & 1); i++) {
    pid_t child = vfork();
    if (child == 0) {
      write(1, "c", 1);
      _exit(0);
    }
    write(1, "p", 1);
  }
  while (wait(NULL) > 0) {}
  return 0;
}
