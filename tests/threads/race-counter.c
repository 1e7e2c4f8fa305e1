//@ frontend: bitcode, at -O2 the two front ends give the race to two lines of one expression
//@ options: --schedules 0
// Two threads count without a lock.
#include <pthread.h>
#ifdef FIXED
#include <stdatomic.h>
static atomic_int n;
#else
static int n;
#endif
static void *run(void *p) {
  for (int i = 0; i < 3; i++) n++;  //~ FAULT data-race: read of 4 bytes at `n` (4 bytes) by thread 2, and write by thread 1
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return n != 6;
}
