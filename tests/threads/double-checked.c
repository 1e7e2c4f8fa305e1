//@ frontend: bitcode, executables have one thread
//@ replay: no, a native run has an order of its own
//@ options: --schedules 0
// A pointer is made at most once, and read without the mutex first.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *table;
static int get(void) {
#ifdef FIXED
  pthread_mutex_lock(&m);
  if (!table) table = calloc(4, sizeof *table);
  pthread_mutex_unlock(&m);
#else
  if (!table) {  //~ FAULT data-race: at `table`
    pthread_mutex_lock(&m);
    if (!table) table = calloc(4, sizeof *table);
    pthread_mutex_unlock(&m);
  }
#endif
  return table ? table[1] : 0;
}
static void *run(void *p) {
  get();
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  free(table);
  return 0;
}
