//@ frontend: bitcode x86_64
//@ options: --schedules 2
// Two readers both want to write, and keep reading meanwhile.
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int value;
static void *run(void *p) {
  pthread_rwlock_rdlock(&l);
  int seen = value;
#ifdef FIXED
  pthread_rwlock_unlock(&l);
#endif
  pthread_rwlock_wrlock(&l);
  value = seen + 1;
  pthread_rwlock_unlock(&l);
#ifndef FIXED
  pthread_rwlock_unlock(&l);
#endif
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);  //~ FAULT deadlock: thread 1 waits for the read-write lock `l`
  return 0;
}
