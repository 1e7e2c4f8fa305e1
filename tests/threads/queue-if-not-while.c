//@ frontend: bitcode x86_64
//@ options: --schedules 3
// `if` instead of `while`: another consumer takes the item first.
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int items;
static void *take(void *p) {
  pthread_mutex_lock(&m);
#ifdef FIXED
  while (items == 0) pthread_cond_wait(&c, &m);
#else
  if (items == 0) pthread_cond_wait(&c, &m);
#endif
  assert(items > 0);  //~ FAULT assertion-failed
  items--;
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, take, 0);
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&m);
    items++;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
  }
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
