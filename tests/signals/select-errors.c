// What `select` refuses, and what is ready at once.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/select.h>
#include <unistd.h>
static void show(const char *what, int n, fd_set *in, fd_set *out, struct timeval *time) {
  errno = 0;
  int result = select(n, in, out, 0, time);
  int number = errno;
  printf("%s: %d, %s\n", what, result, number == EBADF ? "EBADF" : number == EINVAL ? "EINVAL" : number ? "other" : "none");
}
int main(void) {
  unsigned char c = 0;
  read(0, &c, 1);
  int p[2];
  if (pipe(p)) return 1;
  fd_set in, out;
  FD_ZERO(&in);
  FD_ZERO(&out);
  struct timeval none = {0, 0}, negative = {-1, 0};
  if (c & 1) close(p[1]);
  FD_SET(p[0], &in);
  show("end", p[0] + 1, &in, 0, &none);
  FD_SET(p[1], &out);
  show("room", p[1] + 1, 0, &out, &none);
  int file = open("/dev/null", O_RDWR);
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(file, &in);
  FD_SET(file, &out);
  show("file", file + 1, &in, &out, &none);
  show("below", file, &in, &out, &none);
  FD_SET(c & 2 ? 40 : 900, &in);
  show("not open", 1024, &in, 0, &none);
  show("less than none", -1, &in, 0, &none);
  show("before", 1, 0, 0, &negative);
  if (c & 4) show("nothing", 0, 0, 0, &none);
  return 0;
}
