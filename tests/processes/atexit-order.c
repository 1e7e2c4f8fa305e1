// Functions at exit run in each process that exits.
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
static int who;
static void bye(void) { char x = who ? 'c' : 'p'; write(1, &x, 1); }
int main(void) {
  unsigned char c = input();
  atexit(bye);
  if (fork() == 0) {
    who = 1;
    if (c & 1) _exit(0);
    exit(0);
  }
  wait(NULL);
  return 0;
}
