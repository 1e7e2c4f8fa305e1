// A thread makes a child, and another thread reads what that writes, while the main thread waits for what was read.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
static int ends[2], seen;
static unsigned char in;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static void *make(void *p) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    char text = in < 10 ? 'l' : in == 77 ? 'e' : 'h';
    write(ends[1], &text, 1);
    _exit(in & 3);
  }
  waitpid(child, &status, 0);
  return (void *)(long)WEXITSTATUS(status);
}
static void *take(void *p) {
  char text = 0;
  if (read(ends[0], &text, 1) != 1) abort();
  pthread_mutex_lock(&m);
  seen = text;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_t maker, taker;
  void *result;
  in = input();
  if (pipe(ends)) return 100;
  pthread_create(&taker, 0, take, 0);
  pthread_create(&maker, 0, make, 0);
  pthread_mutex_lock(&m);
  while (!seen) pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  pthread_join(maker, &result);
  pthread_join(taker, 0);
  printf("%c %ld\n", seen, (long)result);
  if (seen == 'e') abort();
  return (int)(long)result;
}
