//@ frontend: bitcode, executables have one thread
//@ replay: no, a native run has an order of its own
//@ options: --schedules 0
// A detached thread writes what main reads, which only waits a while.
#include <pthread.h>
#include <unistd.h>
static int result;
static void *run(void *p) {
  result = 5;
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_join(t, 0);
#else
  pthread_detach(t);
  usleep(1000);
#endif
  return result != 5;  //~ FAULT data-race: at `result`
}
