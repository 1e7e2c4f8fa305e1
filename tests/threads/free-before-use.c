//@ frontend: bitcode x86_64
//@ options: --schedules 1
// Who frees does not wait for who uses.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *shared;
static void *run(void *p) {
  pthread_mutex_lock(&m);
  int n = shared[0];  //~ FAULT use-after-free
  pthread_mutex_unlock(&m);
  return (void *)(long)n;
}
int main(void) {
  pthread_t t;
  shared = calloc(1, sizeof *shared);
  if (!shared) return 1;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_join(t, 0);
#endif
  pthread_mutex_lock(&m);
  free(shared);
  pthread_mutex_unlock(&m);
#ifndef FIXED
  pthread_join(t, 0);
#endif
  return 0;
}
