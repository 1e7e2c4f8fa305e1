//@ frontend: bitcode x86_64
//@ options: --schedules 1
// C11: two mutexes, taken in two orders.
#include <threads.h>
static mtx_t a, b;
static int run(void *p) {
#ifdef FIXED
  mtx_lock(&a);
  mtx_lock(&b);
#else
  mtx_lock(&b);
  mtx_lock(&a);
#endif
  mtx_unlock(&a);
  mtx_unlock(&b);
  return 5;
}
int main(void) {
  thrd_t t;
  int r;
  mtx_init(&a, mtx_plain);
  mtx_init(&b, mtx_plain);
  thrd_create(&t, run, 0);
  mtx_lock(&a);
  mtx_lock(&b);  //~ FAULT deadlock: the main thread waits for the mutex `b`
  mtx_unlock(&b);
  mtx_unlock(&a);
  thrd_join(t, &r);
  return r != 5;
}
