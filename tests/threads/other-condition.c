//@ frontend: bitcode x86_64
//@ options: --schedules 1
// Two conditions of one mutex; the wrong one is signalled.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER, empty = PTHREAD_COND_INITIALIZER;
static int items;
static void *take(void *p) {
  pthread_mutex_lock(&m);
  while (!items) pthread_cond_wait(&full, &m);
  items--;
  pthread_cond_signal(&empty);
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, take, 0);
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
  }
  pthread_mutex_lock(&m);
  items++;
#ifdef FIXED
  pthread_cond_signal(&full);
#else
  pthread_cond_signal(&empty);
#endif
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);  //~ FAULT deadlock
  return items;
}
