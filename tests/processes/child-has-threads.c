// Children of two threads make threads of their own; in each child one thread ends the process.
#include <pthread.h>
#include <sys/wait.h>
#include "input.h"
static unsigned char in;
static _Thread_local int own = 5;
static void *add(void *p) {
  own += (int)(long)p;
  return (void *)(long)own;
}
static void *end(void *p) { _exit((int)(long)p); }
static void *make(void *p) {
  int status;
  own = 100;
  pid_t child = fork();
  if (child == 0) {
    pthread_t t;
    void *result;
    pthread_create(&t, 0, add, (void *)(long)(in & 7));
    pthread_join(t, &result);
    pthread_create(&t, 0, end, (void *)(own - (long)result + (long)p));
    pthread_join(t, 0);
    _exit(99);
  }
  waitpid(child, &status, 0);
  return (void *)(long)WEXITSTATUS(status);
}
int main(void) {
  pthread_t first, second;
  void *a, *b;
  in = input();
  pthread_create(&first, 0, make, (void *)1);
  pthread_create(&second, 0, make, (void *)2);
  pthread_join(first, &a);
  pthread_join(second, &b);
  printf("%ld %ld\n", (long)a, (long)b);
  return ((long)a + (long)b) & 127;
}
