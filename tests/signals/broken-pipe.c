// SIGPIPE of a write to a pipe without reader: by default, with a handler, ignored.
#include <errno.h>
#include <signal.h>
#include "input.h"
static void handler(int number) { printf("signal %d\n", number); }
int main(void) {
  unsigned char c = input();
  int p[2];
  if (pipe(p)) return 1;
  if (c & 1) close(p[0]);
  if (c & 2) signal(SIGPIPE, handler);
  else if (c & 4) signal(SIGPIPE, SIG_IGN);
  long n = write(p[1], "text", 4);
  printf("%ld %d\n", n, n < 0 && errno == EPIPE);
  return 2;
}
