//@ frontend: bitcode x86_64
//@ options: --schedules 1
// The balance is read under the mutex and written under it, but not in one go.
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static int get(void) {
  pthread_mutex_lock(&m);
  int now = balance;
  pthread_mutex_unlock(&m);
  return now;
}
static void set(int to) {
  pthread_mutex_lock(&m);
  balance = to;
  pthread_mutex_unlock(&m);
}
static void *pay(void *p) {
#ifdef FIXED
  pthread_mutex_lock(&m);
  balance += 10;
  pthread_mutex_unlock(&m);
#else
  set(get() + 10);
#endif
  return p;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, pay, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  assert(get() == 20);  //~ FAULT assertion-failed
  return 0;
}
