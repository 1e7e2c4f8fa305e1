//@ frontend: bitcode x86_64
//@ options: --schedules 1
// The flag is looked at outside of the mutex: the signal may come before the wait.
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int ready;
static void *run(void *p) {
#ifdef FIXED
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
#else
  ready = 1;
  pthread_cond_signal(&c);
#endif
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
#else
  if (!ready) {
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);  //~ FAULT deadlock: the main thread waits for the condition variable `c` (48 bytes)
    pthread_mutex_unlock(&m);
  }
#endif
  pthread_join(t, 0);
  return 0;
}
