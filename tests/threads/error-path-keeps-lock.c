//@ frontend: bitcode x86_64
//@ options: --schedules 0
//@ args: --sym-arg 1
// An early return leaves the mutex locked, for one argument.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int check(char c) {
  pthread_mutex_lock(&m);  //~ FAULT deadlock: which thread 1 held when it ended
  if (c == '!') {
#ifdef FIXED
    pthread_mutex_unlock(&m);
#endif
    return 1;
  }
  pthread_mutex_unlock(&m);
  return 0;
}
static void *run(void *p) {
  check(*(char *)p);
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t;
  pthread_create(&t, 0, run, argv[1]);
  pthread_join(t, 0);
  return check('a');
}
