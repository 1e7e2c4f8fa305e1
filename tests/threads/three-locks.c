//@ frontend: bitcode x86_64
//@ options: --schedules 2
// Three threads and three mutexes, each held while the next is waited for.
#include <pthread.h>
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int n;
static void *run(void *p) {
  long i = (long)p, next = (i + 1) % 3;
#ifdef FIXED
  long low = i < next ? i : next;
  next = i < next ? next : i;
  i = low;
#endif
  pthread_mutex_lock(&m[i]);
  pthread_mutex_lock(&m[next]);
  n |= 1;
  pthread_mutex_unlock(&m[next]);
  pthread_mutex_unlock(&m[i]);
  return 0;
}
int main(void) {
  pthread_t t[3];
  n = 1;
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, run, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);  //~ FAULT deadlock
  return 0;
}
