//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Two wait, one is woken.
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int go, waiting;
static void *run(void *p) {
  pthread_mutex_lock(&m);
  waiting++;
  while (!go) pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, run, 0);
  for (;;) {
    pthread_mutex_lock(&m);
    if (waiting == 2) break;
    pthread_mutex_unlock(&m);
    usleep(1000);
  }
  go = 1;
#ifdef FIXED
  pthread_cond_broadcast(&c);
#else
  pthread_cond_signal(&c);
#endif
  pthread_mutex_unlock(&m);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);  //~ FAULT deadlock: thread 2 waits for the condition variable `c`
  return 0;
}
