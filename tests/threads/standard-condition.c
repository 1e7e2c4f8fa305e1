//@ frontend: bitcode x86_64
//@ options: --schedules 0
// C11: a wait that nobody ends.
#include <threads.h>
static mtx_t m;
static cnd_t c;
static int done;
static int run(void *p) {
  mtx_lock(&m);
  done = 1;
#ifdef FIXED
  cnd_signal(&c);
#endif
  mtx_unlock(&m);
  return 0;
}
int main(void) {
  thrd_t t;
  mtx_init(&m, mtx_plain);
  cnd_init(&c);
  thrd_create(&t, run, 0);
  mtx_lock(&m);
  while (!done) cnd_wait(&c, &m);  //~ FAULT deadlock: the main thread waits for the condition variable `c`
  mtx_unlock(&m);
  thrd_join(t, 0);
  return 0;
}
