// SIGPIPE of a socket whose other end is closed, and `MSG_NOSIGNAL`.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static volatile sig_atomic_t signals;
static void handler(int number) { signals++; }
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  int s[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s)) return 1;
  signal(SIGPIPE, handler);
  if (c & 1) close(s[1]);
  long n = c & 2 ? send(s[0], "x", 1, MSG_NOSIGNAL) : write(s[0], "x", 1);
  printf("%ld %d %d\n", n, n < 0 && errno == EPIPE, (int)signals);
  return 0;
}
