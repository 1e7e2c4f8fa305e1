//@ inputs: 12
// Two threads that share a lock both ask for it alone: the kernel gives each one's old lock up first.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include "input.h"
static char name[] = "/tmp/lock.XXXXXX";
static int ends[2];
static void *run(void *p) {
  int fd = open(name, O_RDWR);
  flock(fd, LOCK_SH);
  write(ends[1], "a", 1);
  usleep(5000);
  flock(fd, LOCK_EX);
  flock(fd, LOCK_UN);
  return p;
}
int main(void) {
  unsigned char in = input();
  int fd = mkstemp(name);
  char c;
  pthread_t t;
  if (fd < 0 || pipe(ends)) return 100;
  flock(fd, LOCK_SH);
  pthread_create(&t, 0, run, 0);
  read(ends[0], &c, 1);
  usleep(15000);
  flock(fd, LOCK_EX);
  flock(fd, LOCK_UN);
  pthread_join(t, 0);
  unlink(name);
  return in > 3 ? 1 : 2;
}
