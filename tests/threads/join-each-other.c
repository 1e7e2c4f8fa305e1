//@ frontend: bitcode x86_64
//@ options: --schedules 1
// A thread waits for the end of the one that waits for it.
#include <pthread.h>
static pthread_t first;
static void *run(void *p) {
#ifndef FIXED
  pthread_join(first, 0);
#endif
  return p;
}
int main(void) {
  pthread_t t;
  first = pthread_self();
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);  //~ FAULT deadlock: the main thread waits for thread 1 to end
  return 0;
}
