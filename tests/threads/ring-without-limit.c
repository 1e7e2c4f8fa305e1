//@ frontend: bitcode x86_64
//@ options: --schedules 2
// A ring of two places whose writer never waits for the reader.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ring[2], used, sum;
static void *put(void *p) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&m);
#ifdef FIXED
    while (used == 2) pthread_cond_wait(&c, &m);
#endif
    ring[used++] = i;  //~ FAULT out-of-bounds-write: offset 8 of `ring`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
  }
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, put, 0);
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&m);
    while (!used) pthread_cond_wait(&c, &m);
    sum += ring[--used];
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
  }
  pthread_join(t, 0);
  return sum != 3;
}
