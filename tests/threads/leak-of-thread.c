//@ frontend: bitcode x86_64
//@ options: --schedules 0 --leaks
// Nobody takes what the thread returns.
#include <pthread.h>
#include <stdlib.h>
static void *run(void *p) {
  return calloc(1, 8);  //~ FAULT memory-leak: 8 bytes
}
int main(void) {
  pthread_t t;
  void *r = 0;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_join(t, &r);
#else
  pthread_join(t, 0);
#endif
  free(r);
  return 0;
}
