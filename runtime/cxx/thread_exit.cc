/* Destructors of a thread's variables, the youngest first. The main thread has no end but the program's. */
#pragma clang section text=".text.library"
#include <pthread.h>
#include <stdlib.h>

namespace {
struct Last {
  void (*run)(void *);
  void *object;
  Last *next;
};
thread_local Last *last;
pthread_key_t ends;
void run_last(void *) {
  while (Last *first = last) {
    last = first->next;
    first->run(first->object);
    free(first);
  }
}
void run_last_at_exit() { run_last(nullptr); }
}

extern "C" int __cxa_thread_atexit(void (*run)(void *), void *object, void *) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    pthread_key_create(&ends, run_last);
    atexit(run_last_at_exit);
  });
  Last *next = (Last *)malloc(sizeof(Last));
  if (!next)
    return -1;
  *next = {run, object, last};
  last = next;
  pthread_setspecific(ends, next);
  return 0;
}
