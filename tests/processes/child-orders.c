// What the main thread writes is before what the other thread reads: a child passes it on, by its end.
#include <pthread.h>
#include <sys/wait.h>
#include "input.h"
static int shared, ends[2];
static pid_t child;
static void *run(void *p) {
  int status;
  waitpid(child, &status, 0);
  shared += WEXITSTATUS(status);
  return p;
}
int main(void) {
  unsigned char in = input();
  pthread_t t;
  if (pipe(ends)) return 100;
  child = fork();
  if (child == 0) {
    char c;
    close(ends[1]);
    read(ends[0], &c, 1);
    _exit(3 + (in > 3));
  }
  pthread_create(&t, 0, run, 0);
  shared = 4;
  write(ends[1], "a", 1);
  pthread_join(t, 0);
  return shared;
}
