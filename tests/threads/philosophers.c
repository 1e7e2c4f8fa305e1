//@ frontend: bitcode x86_64
//@ options: --schedules 2
// Three philosophers each take the fork at their left, then the one at their right.
#include <pthread.h>
#define N 3
static pthread_mutex_t forks[N];
static int meals;
static pthread_mutex_t count = PTHREAD_MUTEX_INITIALIZER;
static void *eat(void *p) {
  long i = (long)p, left = i, right = (i + 1) % N;
#ifdef FIXED
  if (right < left) left = right, right = i;
#endif
  pthread_mutex_lock(&forks[left]);
  pthread_mutex_lock(&forks[right]);
  meals++;
  pthread_mutex_unlock(&forks[right]);
  pthread_mutex_unlock(&forks[left]);
  return 0;
}
int main(void) {
  pthread_t t[N];
  for (int i = 0; i < N; i++) pthread_mutex_init(&forks[i], 0);
  for (long i = 0; i < N; i++) pthread_create(&t[i], 0, eat, (void *)i);
  for (int i = 0; i < N; i++) pthread_join(t[i], 0);  //~ FAULT deadlock: all threads wait: the main thread waits for thread 1 to end
  return 0;
}
