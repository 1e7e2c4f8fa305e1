//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A barrier for one thread more than there are.
#include <pthread.h>
static pthread_barrier_t b;
static void *run(void *p) {
  pthread_barrier_wait(&b);
  return p;
}
int main(void) {
  pthread_t t;
#ifdef FIXED
  pthread_barrier_init(&b, 0, 2);
#else
  pthread_barrier_init(&b, 0, 3);
#endif
  pthread_create(&t, 0, run, 0);
  pthread_barrier_wait(&b);  //~ FAULT deadlock: the main thread waits for the barrier `b` (32 bytes)
  pthread_join(t, 0);
  return 0;
}
