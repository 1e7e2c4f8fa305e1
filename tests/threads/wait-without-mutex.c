//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A condition is waited for without the mutex.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int done;
static void *run(void *p) {
  pthread_mutex_lock(&m);
  done = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  pthread_mutex_lock(&m);
#endif
  while (!done) pthread_cond_wait(&c, &m);  //~ FAULT unheld-lock: wait for a condition without holding
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_join(t, 0);
  return 0;
}
