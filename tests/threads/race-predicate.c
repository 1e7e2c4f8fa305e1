//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// The predicate of a condition is set without the mutex.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static void *run(void *p) {
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(&c, &m);  //~ FAULT data-race: at `ready`
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_mutex_lock(&m);
#endif
  ready = 1;
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_cond_signal(&c);
  pthread_join(t, 0);
  return 0;
}
