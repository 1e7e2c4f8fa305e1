//@ frontend: bitcode x86_64
//@ options: --schedules 0
//@ args: --sym-arg 1
// For one argument the thread leaves without the signal.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int done;
static void *run(void *p) {
  char letter = *(char *)p;
#ifndef FIXED
  if (letter == 'q') return 0;
#endif
  pthread_mutex_lock(&m);
  done = letter == 'q' ? 2 : 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t;
  pthread_create(&t, 0, run, argv[1]);
  pthread_mutex_lock(&m);
  while (!done) pthread_cond_wait(&c, &m);  //~ FAULT deadlock: and no other thread is left
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
