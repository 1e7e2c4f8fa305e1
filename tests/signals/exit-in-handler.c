// A handler that ends the program: by `_exit`, by `exit` with its handlers, or not at all.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static unsigned char c;
static void last(void) { write(1, "last\n", 5); }
static void handler(int number) {
  if (c & 1) _exit(10 + number);
  if (c & 2) exit(20 + number);
}
int main(void) {
  read(0, &c, 1);
  atexit(last);
  signal(SIGTERM, handler);
  kill(getpid(), SIGTERM);
  return 1;
}
