//@ frontend: bitcode x86_64
//@ options: --schedules 1
// Whether the queue has an item is asked under the mutex, and one is taken under it, but not in one go.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int items[4] = {7}, count = 1, taken;
static int some(void) {
  pthread_mutex_lock(&m);
  int left = count;
  pthread_mutex_unlock(&m);
  return left > 0;
}
static void take(void) {
  pthread_mutex_lock(&m);
#ifdef FIXED
  if (count > 0)
#endif
    taken += items[--count];  //~ FAULT out-of-bounds-read: of `items`  //~ NOT x86_64 -O2: in optimised code no address tells its variable
  pthread_mutex_unlock(&m);
}
static void *run(void *p) {
  if (some()) take();
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return taken > 7;
}
