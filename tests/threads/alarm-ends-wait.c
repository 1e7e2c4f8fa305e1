//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Both threads wait, and no handler is there for the alarm that ends this.
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *take(void *p) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, take, 0);
  alarm(1);
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_join(t, 0);  //~ FAULT abort
  return 0;
}
