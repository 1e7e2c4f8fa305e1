//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// A local variable is the thread's, and its owner goes on with it.
#include <pthread.h>
static void *run(void *p) {
  *(int *)p = 3;  //~ FAULT data-race: write of 4 bytes at `n` (4 bytes) by thread 1, and write by the main thread
  return 0;
}
int main(void) {
  pthread_t t;
  int n = 1;
  pthread_create(&t, 0, run, &n);
#ifdef FIXED
  pthread_join(t, 0);
#endif
  n = 2;
#ifndef FIXED
  pthread_join(t, 0);
#endif
  return n == 0;
}
