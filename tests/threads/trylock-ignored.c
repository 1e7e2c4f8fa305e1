//@ frontend: bitcode x86_64
//@ options: --schedules 1
// That the mutex was not to be had is not looked at.
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int n;
static void *run(void *p) {
#ifdef FIXED
  if (pthread_mutex_trylock(&m)) return p;
#else
  pthread_mutex_trylock(&m);
#endif
  n++;
  pthread_mutex_unlock(&m);  //~ FAULT unheld-lock: which the main thread holds
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_mutex_lock(&m);
  n++;
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
