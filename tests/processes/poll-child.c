// poll waits for what a child writes, and for its end.
#include <poll.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int p[2];
  pipe(p);
  if (fork() == 0) {
    close(p[0]);
    usleep(10000);
    if (c & 1) write(p[1], "x", 1);
    _exit(0);
  }
  close(p[1]);
  struct pollfd set = {p[0], POLLIN, 0};
  int n = poll(&set, 1, 5000);
  printf("%d %d %d\n", n, !!(set.revents & POLLIN), !!(set.revents & POLLHUP) * !(c & 1));
  wait(NULL);
  return 0;
}
