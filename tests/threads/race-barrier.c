//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// Phases that a barrier parts, and one step behind the last.
#include <pthread.h>
static pthread_barrier_t b;
static int a[2];
static void *run(void *p) {
  long i = (long)p;
  a[i] = 1;
  pthread_barrier_wait(&b);
  int other = a[1 - i];  //~ FAULT data-race: by thread 1, and write by thread 2
#ifdef FIXED
  pthread_barrier_wait(&b);
#endif
  a[i] = other + 1;
  return 0;
}
int main(void) {
  pthread_t t[2];
  pthread_barrier_init(&b, 0, 2);
  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
