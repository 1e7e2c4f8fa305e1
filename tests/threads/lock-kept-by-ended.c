//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A thread ends with a mutex locked.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p) {
  pthread_mutex_lock(&m);
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  pthread_mutex_lock(&m);  //~ FAULT deadlock: which thread 1 held when it ended
  pthread_mutex_unlock(&m);
  return 0;
}
