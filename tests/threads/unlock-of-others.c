//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A thread unlocks what another has locked.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p) {
#ifndef FIXED
  pthread_mutex_unlock(&m);  //~ FAULT unheld-lock: unlock of the mutex `m` (40 bytes), which the main thread holds
#endif
  return p;
}
int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  pthread_mutex_unlock(&m);
  return 0;
}
