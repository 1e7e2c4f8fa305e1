// Handlers that raise other signals, three deep.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static unsigned char c;
static void handler(int number) {
  printf("begin %d\n", number);
  if (number == SIGHUP) raise(SIGINT);
  if (number == SIGINT && c & 1) raise(SIGTERM);
  if (number == SIGTERM && c & 2) c &= ~2, raise(SIGHUP);
  printf("end %d\n", number);
}
int main(void) {
  read(0, &c, 1);
  setvbuf(stdout, 0, _IONBF, 0);
  signal(SIGHUP, handler);
  signal(SIGINT, handler);
  if (!(c & 4)) signal(SIGTERM, handler);
  raise(SIGHUP);
  return 2;
}
