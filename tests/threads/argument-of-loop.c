//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Each thread is given the address of the loop's counter.
#include <assert.h>
#include <pthread.h>
#define N 3
static int seen[N];
static void *run(void *p) {
#ifdef FIXED
  seen[(long)p]++;
#else
  seen[*(int *)p]++;  //~ FAULT data-race: read of 4 bytes at `i` (4 bytes) by thread 1, and write by the main thread  //~ NOT x86_64 -O0: a move may be meant to be atomic  //~ ONLY x86_64 -O0 FAULT out-of-bounds-read: of `seen`
#endif
  return 0;
}
int main(void) {
  pthread_t t[N];
  int i;
  for (i = 0; i < N; i++) {
#ifdef FIXED
    pthread_create(&t[i], 0, run, (void *)(long)i);
#else
    pthread_create(&t[i], 0, run, &i);
#endif
  }
  for (int j = 0; j < N; j++) pthread_join(t[j], 0);
  for (int j = 0; j < N; j++) assert(seen[j] == 1);
  return 0;
}
