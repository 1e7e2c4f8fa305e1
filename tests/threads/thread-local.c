//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A thread reads what the main thread has set in its own variable.
#include <assert.h>
#include <pthread.h>
static _Thread_local int limit = 1;
static void *run(void *p) {
#ifdef FIXED
  limit = *(int *)p;
#endif
  assert(limit == 5);  //~ FAULT assertion-failed
  return 0;
}
int main(void) {
  pthread_t t;
  limit = 5;
  pthread_create(&t, 0, run, &limit);
  pthread_join(t, 0);
  return 0;
}
