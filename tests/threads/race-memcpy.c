//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// A block is copied while another thread fills it.
#include <pthread.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char shared[16];
static void *run(void *p) {
  pthread_mutex_lock(&m);
  memset(shared, 'x', sizeof shared);  //~ FAULT data-race: write of 16 bytes at `shared` (16 bytes) by thread 1
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  char mine[16];
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
#ifdef FIXED
  pthread_mutex_lock(&m);
#endif
  memcpy(mine, shared, sizeof mine);
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_join(t, 0);
  return mine[0] == 'y';
}
