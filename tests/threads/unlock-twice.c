//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Unlocked in the callee and by the caller.
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int put(int n) {
  if (n > 3) {
#ifndef FIXED
    pthread_mutex_unlock(&m);
#endif
    return -1;
  }
  return n;
}
int main(void) {
  pthread_mutex_lock(&m);
  put(4);
  pthread_mutex_unlock(&m);  //~ FAULT unheld-lock: which no thread holds
  return 0;
}
