//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// What is ready is told by a plain variable.
#include <pthread.h>
#ifdef FIXED
#include <stdatomic.h>
static atomic_int ready;
#else
static volatile int ready;
#endif
static int value;
static void *run(void *p) {
  value = 42;
  ready = 1;  //~ FAULT data-race: write of 4 bytes at `ready` (4 bytes) by thread 1, and read by the main thread
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  while (!ready) ;
  int seen = value;
  pthread_join(t, 0);
  return seen != 42;
}
