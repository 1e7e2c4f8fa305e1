//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A thread returns the address of its own variable.
#include <pthread.h>
static int kept;
static void *run(void *p) {
#ifdef FIXED
  int *n = &kept;
#else
  int local, *n = &local;
#endif
  *n = 7;
  return n;
}
int main(void) {
  pthread_t t;
  void *n;
  pthread_create(&t, 0, run, 0);
  pthread_join(t, &n);
  return *(int *)n != 7;  //~ FAULT use-after-return
}
