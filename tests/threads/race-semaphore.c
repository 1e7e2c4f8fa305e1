//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Handed over by a semaphore, and touched again behind it.
#include <pthread.h>
#include <semaphore.h>
static sem_t full;
static int box;
static void *run(void *p) {
  sem_wait(&full);
  box++;  //~ FAULT data-race: at `box`  //~ NOT x86_64: a move may be meant to be atomic
  return p;
}
int main(void) {
  pthread_t t;
  sem_init(&full, 0, 0);
  pthread_create(&t, 0, run, 0);
  box = 1;
  sem_post(&full);
#ifndef FIXED
  box = 2;
#endif
  pthread_join(t, 0);
  return box == 0;
}
