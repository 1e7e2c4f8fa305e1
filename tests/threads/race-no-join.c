//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// The result is read before the thread has ended.
#include <pthread.h>
#include <unistd.h>
static int result;
static void *run(void *p) {
  result = 7;
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_join(t, 0);
#else
  usleep(1000);
#endif
  int r = result;  //~ FAULT data-race: read of 4 bytes at `result` (4 bytes) by the main thread, and write by thread 1 at race-no-join.c
#ifndef FIXED
  pthread_join(t, 0);
#endif
  return r != 7;
}
