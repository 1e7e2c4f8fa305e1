//@ handles faults
// A failed assertion is found, although the program handles SIGABRT.
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void handler(int number) { _exit(5); }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGABRT, handler);
  assert(c != 'a');
  return 0;
}
