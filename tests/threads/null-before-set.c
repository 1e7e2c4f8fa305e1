//@ frontend: bitcode x86_64
//@ options: --schedules 1
// The thread uses what is made after it.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int value = 3, *where;
static void *run(void *p) {
  pthread_mutex_lock(&m);
  int n = *where;  //~ FAULT null-dereference
  pthread_mutex_unlock(&m);
  return (void *)(long)n;
}
int main(void) {
  pthread_t t;
#ifdef FIXED
  where = &value;
#endif
  pthread_create(&t, 0, run, 0);
  pthread_mutex_lock(&m);
  where = &value;
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
