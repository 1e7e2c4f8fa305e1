//@ frontend: bitcode, data races of machine code are not told
//@ options: --schedules 1
// What the other thread is woken for is written after it is woken.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2], work;
static void *run(void *p) {
  struct pollfd f = {ends[0], POLLIN, 0};
  char c;
  poll(&f, 1, -1);
  read(ends[0], &c, 1);
  return (void *)(long)work;  //~ FAULT data-race: read of 4 bytes at `work`
}
int main(void) {
  pthread_t t;
  void *result;
  if (pipe(ends)) return 1;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  work = 7;
  write(ends[1], "w", 1);
#else
  write(ends[1], "w", 1);
  work = 7;
#endif
  pthread_join(t, &result);
  return result != (void *)7;
}
