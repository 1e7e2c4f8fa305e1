//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A spin lock is taken by a thread that has it.
#include <pthread.h>
static pthread_spinlock_t s;
static int n;
static void *run(void *p) {
  pthread_spin_lock(&s);
  n++;
#ifdef FIXED
  pthread_spin_unlock(&s);
#endif
  pthread_spin_lock(&s);
  n++;
  pthread_spin_unlock(&s);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_spin_init(&s, 0);
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);  //~ FAULT deadlock: thread 1 waits for the spin lock `s` (4 bytes)
  return n != 2;
}
