//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A flag is written atomically and read as a plain variable.
#include <pthread.h>
#include <stdatomic.h>
static int flag;
static void *run(void *p) {
  __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);  //~ FAULT data-race: at `flag`  //~ NOT x86_64 -O0: a move may be meant to be atomic
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
#ifdef FIXED
  int seen = __atomic_load_n(&flag, __ATOMIC_SEQ_CST);
#else
  int seen = flag;
#endif
  pthread_join(t, 0);
  return seen > 1;
}
