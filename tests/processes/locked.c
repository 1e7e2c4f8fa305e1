// flock: a child waits until its parent gives the file free.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  char name[] = "/tmp/lockXXXXXX", order[4] = "";
  int fd = mkstemp(name), p[2], q[2];
  pipe(p);
  pipe(q);
  flock(fd, LOCK_EX);
  if (fork() == 0) {
    int own = open(name, O_RDWR);
    int failed = flock(own, LOCK_EX | LOCK_NB);
    write(q[1], "r", 1);
    flock(own, LOCK_EX);
    write(p[1], failed && c & 1 ? "c" : "C", 1);
    _exit(0);
  }
  char x;
  read(q[0], &x, 1);
  write(p[1], "p", 1);
  flock(fd, LOCK_UN);
  wait(NULL);
  read(p[0], order, 2);
  printf("%s\n", order);
  unlink(name);
  return 0;
}
