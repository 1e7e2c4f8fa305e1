//@ frontend: bitcode x86_64
//@ options: --schedules 0
// The destructor of a key is `free`, which frees what another thread still reads.
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t key;
static int *kept;

static void *run(void *p) {
  int *mine = malloc(sizeof *mine);
  *mine = 3;
  kept = mine;
#ifndef FIXED
  pthread_setspecific(key, mine);
#endif
  return p;
}

int main(void) {
  pthread_t t;
  pthread_key_create(&key, free);
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  int n = *kept;  //~ FAULT use-after-free
  free(kept);
  return n == 3 ? 0 : 1;
}
