// A handler may change errno, and nobody restores it for the program.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void changes(int number) { close(-1); }
static void keeps(int number) {
  int saved = errno;
  close(-1);
  errno = saved;
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  signal(SIGUSR1, c & 1 ? keeps : changes);
  errno = ENOENT;
  raise(SIGUSR1);
  printf("%d %d\n", errno == ENOENT, errno == EBADF);
  return errno == ENOENT;
}
