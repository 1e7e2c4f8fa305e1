//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// A structure is copied while a field of it changes.
#include <pthread.h>
struct point { int x, y, z[6]; };
static struct point p, copy;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *move(void *q) {
  pthread_mutex_lock(&m);
  p.z[3] = 1;  //~ FAULT data-race: of `p`
  pthread_mutex_unlock(&m);
  return q;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, move, 0);
#ifdef FIXED
  pthread_mutex_lock(&m);
  copy = p;
  pthread_mutex_unlock(&m);
#else
  copy = p;
#endif
  pthread_join(t, 0);
  return copy.z[3] > 1;
}
