//@ frontend: bitcode x86_64
//@ options: --schedules 1
// The reader reads until nobody can write any more, and the main thread does not close its end.
#include <pthread.h>
#include <unistd.h>
static int ends[2], sum;
static void *run(void *p) {
  char c;
  while (read(ends[0], &c, 1) == 1) sum += c;
  return p;
}
int main(void) {
  pthread_t t;
  if (pipe(ends)) return 1;
  pthread_create(&t, 0, run, 0);
  write(ends[1], "ab", 2);
#ifdef FIXED
  close(ends[1]);
#endif
  pthread_join(t, 0);  //~ FAULT deadlock: thread 1 waits in `read`
  return sum != 'a' + 'b';
}
