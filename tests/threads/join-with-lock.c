//@ frontend: bitcode x86_64
//@ options: --schedules 1
// A thread is joined by one that holds the mutex it needs.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *run(void *p) {
  pthread_mutex_lock(&m);
  n++;
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  pthread_mutex_lock(&m);
#else
  pthread_join(t, 0);  //~ FAULT deadlock: the main thread waits for thread 1 to end
#endif
  n++;
  pthread_mutex_unlock(&m);
  return n != 2;
}
