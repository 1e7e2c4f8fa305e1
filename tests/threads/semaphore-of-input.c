//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --schedules 0
// A semaphore is posted for one kind of input alone.
#include <pthread.h>
#include <semaphore.h>
static sem_t s;
static char c;
static void *run(void *p) {
  if (c == 'a') sem_post(&s);
#ifdef FIXED
  else sem_post(&s);
#endif
  return p;
}
int main(int argc, char **argv) {
  pthread_t t;
  c = argc > 1 ? argv[1][0] : 'a';
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, run, 0);
  sem_wait(&s);  //~ FAULT deadlock: the main thread waits for the semaphore `s`
  pthread_join(t, 0);
  return 0;
}
