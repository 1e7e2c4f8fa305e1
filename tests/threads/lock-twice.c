//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A function locks what its caller has locked.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void add(void) {
#ifndef FIXED
  pthread_mutex_lock(&m);  //~ FAULT deadlock: the main thread waits for the mutex `m` (40 bytes), which the main thread holds
#endif
  n++;
#ifndef FIXED
  pthread_mutex_unlock(&m);
#endif
}
int main(void) {
  pthread_mutex_lock(&m);
  add();
  pthread_mutex_unlock(&m);
  return n != 1;
}
