//@ frontend: bitcode x86_64
//@ options: --schedules 0
// That the time was over is not looked at.
#include <assert.h>
#include <pthread.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
int main(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 2;
  pthread_mutex_lock(&m);
  int error = pthread_cond_timedwait(&c, &m, &until);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  assert(now.tv_sec >= until.tv_sec);
  pthread_mutex_unlock(&m);
#ifdef FIXED
  if (error) return 0;
#endif
  assert(ready);  //~ FAULT assertion-failed
  return 0;
}
