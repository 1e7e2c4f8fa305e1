//@ frontend: bitcode x86_64
//@ options: --schedules 0
// The destructor of a key frees what the thread has freed.
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static void *run(void *p) {
  void *block = malloc(4);
  pthread_setspecific(key, block);
  free(block);
#ifdef FIXED
  pthread_setspecific(key, 0);
#endif
  return pthread_getspecific(key);
}
static void release(void *p) {
  free(p);  //~ FAULT double-free
}
int main(void) {
  pthread_t t;
  pthread_key_create(&key, release);
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  return 0;
}
