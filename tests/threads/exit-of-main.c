//@ frontend: bitcode x86_64
//@ options: --schedules 1
// The main thread ends by `pthread_exit` while another waits for what it keeps.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p) {
  pthread_mutex_lock(&m);  //~ FAULT deadlock: which the main thread held when it ended
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  pthread_create(&t, 0, run, 0);
  pthread_detach(t);
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_exit(0);
}
