//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Written under a lock to read.
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int hits;
static void *run(void *p) {
#ifdef FIXED
  pthread_rwlock_wrlock(&l);
#else
  pthread_rwlock_rdlock(&l);
#endif
  hits++;  //~ FAULT data-race: at `hits`  //~ NOT x86_64 -O0: a move may be meant to be atomic
  pthread_rwlock_unlock(&l);
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return hits != 2;
}
