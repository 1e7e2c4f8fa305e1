//@ frontend: bitcode x86_64
//@ options: --schedules 0
//@ args: --sym-arg 1
// For one argument the thread writes without the lock.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int last;
static void *run(void *p) {
  char c = *(char *)p;
#ifndef FIXED
  if (c == '#') {
    last = -1;  //~ FAULT data-race: write of 4 bytes at `last`  //~ NOT x86_64 -O0: a move may be meant to be atomic
    return 0;
  }
#endif
  pthread_mutex_lock(&m);
  last = c;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t;
  pthread_create(&t, 0, run, argv[1]);
  pthread_mutex_lock(&m);
  last = 1;
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  return 0;
}
