//@ frontend: bitcode x86_64
//@ options: --schedules 1
// Two threads free a buffer if it is there; the look and the call are two steps.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;
static char *look(void) {
  pthread_mutex_lock(&m);
  char *now = buffer;
#ifdef FIXED
  buffer = 0;
#endif
  pthread_mutex_unlock(&m);
  return now;
}
static void *drop(void *p) {
  char *mine = look();
  if (mine) {
    free(mine);  //~ FAULT double-free
#ifndef FIXED
    pthread_mutex_lock(&m);
    buffer = 0;
    pthread_mutex_unlock(&m);
#endif
  }
  return p;
}
int main(void) {
  pthread_t t[2];
  buffer = malloc(8);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, drop, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
