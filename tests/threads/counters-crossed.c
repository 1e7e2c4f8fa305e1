//@ frontend: bitcode x86_64
//@ options: --schedules 1
// Each thread waits for the other's counter before it counts.
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>
static int mine, yours;
static void count(int fd) {
  uint64_t one = 1;
  write(fd, &one, sizeof one);
}
static void await(int fd) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  select(fd + 1, &set, 0, 0, 0);  //~ FAULT deadlock: thread 1 waits in `select`
}
static void *run(void *p) {
#ifdef FIXED
  count(yours);
  await(mine);
#else
  await(mine);
  count(yours);
#endif
  return p;
}
int main(void) {
  pthread_t t;
  mine = eventfd(0, 0), yours = eventfd(0, 0);
  pthread_create(&t, 0, run, 0);
  await(yours);
  count(mine);
  pthread_join(t, 0);
  return 0;
}
