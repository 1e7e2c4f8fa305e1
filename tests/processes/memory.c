// Memory is a copy, files are shared.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "input.h"
static int global = 1;
int main(void) {
  unsigned char c = input();
  int local = 2, *heap = malloc(sizeof *heap);
  *heap = 3;
  int p[2];
  pipe(p);
  if (fork() == 0) {
    global += c;
    local = 20;
    *heap = 30;
    int sum = global + local + *heap;
    write(p[1], &sum, sizeof sum);
    _exit(0);
  }
  int sum = 0;
  read(p[0], &sum, sizeof sum);
  wait(NULL);
  printf("%d %d %d %d\n", global, local, *heap, sum > 100);
  free(heap);
  return 0;
}
