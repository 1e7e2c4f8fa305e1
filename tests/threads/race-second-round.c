//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// Two threads access a variable between two rounds of a barrier.
#include <pthread.h>
static pthread_barrier_t b;
static int n;

static void *run(void *p) {
  pthread_barrier_wait(&b);
  int seen = n;
  pthread_barrier_wait(&b);
  return seen > 1 ? &n : p;
}

int main(void) {
  pthread_t t;
  pthread_barrier_init(&b, 0, 2);
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  n = 1;
#endif
  pthread_barrier_wait(&b);
#ifndef FIXED
  n = 1;  //~ FAULT data-race: at `n`
#endif
  pthread_barrier_wait(&b);
  pthread_join(t, 0);
  return 0;
}
