//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A count of references goes down without the mutex.
#include <pthread.h>
#include <stdlib.h>
struct object { int references; char text[4]; };
#ifdef FIXED
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#endif
static void drop(struct object *o) {
#ifdef FIXED
  pthread_mutex_lock(&m);
  int left = --o->references;
  pthread_mutex_unlock(&m);
#else
  int left = --o->references;  //~ FAULT data-race: at a heap object  //~ NOT x86_64 -O0: a move may be meant to be atomic
#endif
  if (left == 0) free(o);
}
static void *run(void *p) {
  drop(p);
  return 0;
}
int main(void) {
  struct object *o = calloc(1, sizeof *o);
  if (!o) return 3;
  o->references = 2;
  pthread_t t;
  pthread_create(&t, 0, run, o);
  drop(o);
  pthread_join(t, 0);
  return 0;
}
