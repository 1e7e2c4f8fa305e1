//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --schedules 0
// A recursion takes its mutex again.
#define _GNU_SOURCE
#include <pthread.h>
static pthread_mutex_t m;
static int deep(int n) {
  pthread_mutex_lock(&m);
  int sum = n > 0 ? n + deep(n - 1) : 0;
  pthread_mutex_unlock(&m);
  return sum;
}
static void *run(void *p) {
  return (void *)(long)deep(*(char *)p == 'd');
}
int main(int argc, char **argv) {
  pthread_t t;
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
#ifdef FIXED
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
#endif
  pthread_mutex_init(&m, &a);
  if (argc < 2) return 1;
  pthread_create(&t, 0, run, argv[1]);
  pthread_join(t, 0);  //~ FAULT deadlock: thread 1 waits for the mutex `m`
  return 0;
}
