// More than a pipe holds goes through it.
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int p[2];
  pipe(p);
  size_t size = 200000;
  if (fork() == 0) {
    close(p[0]);
    char *text = malloc(size);
    memset(text, c > 127 ? 'x' : 'y', size);
    for (size_t at = 0; at < size;) {
      ssize_t n = write(p[1], text + at, c & 1 ? size - at : 5000);
      if (n <= 0) _exit(1);
      at += n;
    }
    _exit(0);
  }
  close(p[1]);
  static char buffer[3000];
  size_t total = 0, x = 0;
  ssize_t n;
  while ((n = read(p[0], buffer, sizeof buffer)) > 0) {
    total += n;
    x += buffer[n - 1] == 'x';
  }
  int status;
  wait(&status);
  printf("%zu %d %d\n", total, x > 0, WEXITSTATUS(status));
  return 0;
}
