//@ inputs: 12
// Two threads sleep; who sleeps for less wakes first.
#include <pthread.h>
#include "input.h"
static int ends[2];
static void *nap(void *p) {
  const int *how = p;
  char c = how[1];
  usleep(how[0] * 1000);
  write(ends[1], &c, 1);
  return 0;
}
int main(void) {
  int first[2] = {input() % 3 == 0 ? 60 : 10, 1}, second[2] = {30, 2};
  char order[2];
  pthread_t t, u;
  if (pipe(ends)) return 100;
  pthread_create(&t, 0, nap, first);
  pthread_create(&u, 0, nap, second);
  read(ends[0], order, 1);
  read(ends[0], order + 1, 1);
  pthread_join(t, 0);
  pthread_join(u, 0);
  return 4 * order[0] + order[1];
}
