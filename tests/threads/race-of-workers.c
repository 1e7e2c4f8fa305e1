//@ frontend: bitcode, at -O2 the two front ends give the race to two lines of one expression
//@ options: --schedules 0
// Each worker has its own sum, but two share one by a wrong index.
#include <pthread.h>
static int sums[3];
static void *work(void *p) {
  int i = *(int *)p;
  for (int k = 0; k < 2; k++) sums[i] += k;  //~ FAULT data-race: of `sums`
  return p;
}
int main(int argc, char **argv) {
  pthread_t t[3];
#ifdef FIXED
  static int which[3] = {0, 1, 2};
#else
  static int which[3] = {0, 1, 1};
#endif
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, &which[i]);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return sums[0] + sums[1] + sums[2] > 6;
}
