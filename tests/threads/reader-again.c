//@ frontend: bitcode x86_64
//@ options: --schedules 1
// A reader takes a lock for reading, and waits with it for a writer.
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int n;
static void *write_it(void *p) {
  pthread_rwlock_wrlock(&l);
  n++;
  pthread_rwlock_unlock(&l);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, write_it, 0);
  pthread_rwlock_rdlock(&l);
  int seen = n;
#ifdef FIXED
  pthread_rwlock_unlock(&l);
#endif
  pthread_join(t, 0);  //~ FAULT deadlock: thread 1 waits for
#ifndef FIXED
  pthread_rwlock_unlock(&l);
#endif
  return seen > 1;
}
