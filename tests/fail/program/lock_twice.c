//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A lock is taken twice, which the program's own rule forbids.
#include <wryneck.h>
static int locked;
static void lock(void) {
  if (locked) wryneck_report("lock-order", "the lock is taken twice");  //~ FAULT reported: the lock is taken twice
  locked = 1;
}
static void unlock(void) { locked = 0; }
static int work(char c) {
  lock();
  if (c == 'e') {
#ifdef FIXED
    unlock();
#endif
    return -1;
  }
  unlock();
  return c == 'x';
}
int main(int argc, char **argv) {
  int done = 0;
  for (const char *p = argv[1]; *p; p++) done += work(*p);
  return done > 2;
}
