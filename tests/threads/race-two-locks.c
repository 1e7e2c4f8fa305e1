//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Each thread has a lock, but not the same.
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *run(void *p) {
#ifdef FIXED
  pthread_mutex_t *m = &a;
#else
  pthread_mutex_t *m = p ? &a : &b;
#endif
  pthread_mutex_lock(m);
  sum += 5;  //~ FAULT data-race: read of 8 bytes at `sum` (8 bytes) by thread 2, and write by thread 1  //~ NOT x86_64 -O0: a move may be meant to be atomic
  pthread_mutex_unlock(m);
  return 0;
}
int main(void) {
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return sum != 10;
}
