//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// Made at first use: the test is outside of the lock.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *table;
static void make(void) { table = calloc(4, sizeof *table); }
static int *get(void) {
#ifdef FIXED
  pthread_once(&once, make);
#else
  if (!table) {  //~ FAULT data-race: read of 8 bytes at `table` (8 bytes) by thread 2
    pthread_mutex_lock(&m);
    if (!table) make();
    pthread_mutex_unlock(&m);
  }
#endif
  return table;
}
static void *run(void *p) {
  int *t = get();
  return t ? (void *)(long)t[1] : p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  free(table);
  return 0;
}
