// Signal sets: what is in them, and errors for numbers that are none.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  sigset_t set;
  if (c & 1) sigfillset(&set);
  else sigemptyset(&set);
  sigaddset(&set, SIGINT);
  if (c & 2) sigdelset(&set, SIGINT);
  printf("%d %d\n", sigismember(&set, SIGINT), sigismember(&set, SIGTERM));
  errno = 0;
  int result = sigaddset(&set, 0);
  printf("%d %d\n", result, errno == EINVAL);
  return 0;
}
