// A server that forks for each connection, and clients that are children.
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "input.h"
static struct sockaddr_un name = {AF_UNIX, "\0wryneck-accepted"};
static void client(unsigned char c, int out) {
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  unsigned char x = 0;
  if (connect(s, (struct sockaddr *)&name, sizeof name)) _exit(1);
  write(s, &c, 1);
  read(s, &x, 1);
  write(out, &x, 1);
  _exit(0);
}
int main(void) {
  unsigned char c = input(), text[2] = "";
  int p[2], status, failed = 0;
  snprintf(name.sun_path + 1, 40, "accepted-%d", getpid());
  pipe(p);
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(s, (struct sockaddr *)&name, sizeof name);
  listen(s, 4);
  for (int i = 0; i < 2; i++)
    if (fork() == 0) client(c + i, p[1]);
  for (int i = 0; i < 2; i++) {
    int one = accept(s, NULL, NULL);
    if (fork() == 0) {
      unsigned char x;
      read(one, &x, 1);
      x = x < 100 ? 'l' : 'h';
      write(one, &x, 1);
      _exit(0);
    }
    close(one);
  }
  while (wait(&status) > 0) failed += status != 0;
  read(p[0], text, 1);
  read(p[0], text + 1, 1);
  printf("%d %d %d\n", (text[0] == 'l') + (text[1] == 'l'), (text[0] == 'h') + (text[1] == 'h'), failed);
  return 0;
}
