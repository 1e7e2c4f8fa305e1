//@ frontend: bitcode x86_64
//@ options: --schedules 0
// Each waits for the other to post first.
#include <pthread.h>
#include <semaphore.h>
static sem_t mine, theirs;
static void *run(void *p) {
#ifdef FIXED
  sem_post(&mine);
  sem_wait(&theirs);
#else
  sem_wait(&theirs);
  sem_post(&mine);
#endif
  return p;
}
int main(void) {
  pthread_t t;
  sem_init(&mine, 0, 0);
  sem_init(&theirs, 0, 0);
  pthread_create(&t, 0, run, 0);
  sem_wait(&mine);  //~ FAULT deadlock: the main thread waits for the semaphore `mine` (32 bytes)
  sem_post(&theirs);
  pthread_join(t, 0);
  return 0;
}
