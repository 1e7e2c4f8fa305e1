//@ frontend: bitcode, machine code does not tell which accesses are meant to be atomic
//@ options: --schedules 0
// One thread copies a text that another one changes.
#include <pthread.h>
static char text[8] = "abc";
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *change(void *p) {
  pthread_mutex_lock(&m);
  for (int i = 0; i < 3; i++) text[i] = 'x';  //~ FAULT data-race: at `text`
  pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  char copy[8];
  int i = 0;
  pthread_create(&t, 0, change, 0);
#ifdef FIXED
  pthread_mutex_lock(&m);
#endif
  do copy[i] = text[i];
  while (copy[i++]);
#ifdef FIXED
  pthread_mutex_unlock(&m);
#endif
  pthread_join(t, 0);
  return copy[0] == 'b';
}
