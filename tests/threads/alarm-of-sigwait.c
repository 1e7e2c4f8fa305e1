//@ frontend: bitcode x86_64
//@ options: --schedules 0
// A thread takes the alarm that all others wait for.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *take(void *p) {
  int number = 0;
  sigwait(p, &number);
  return (void *)(long)number;
}
int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  pthread_t t;
  pthread_create(&t, 0, take, &set);
  alarm(1);
  void *number;
  pthread_join(t, &number);
#ifdef FIXED
  assert((long)number == SIGALRM);
#else
  assert((long)number != SIGALRM);  //~ FAULT assertion-failed
#endif
  return 0;
}
