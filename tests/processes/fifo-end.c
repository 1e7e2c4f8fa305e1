// A read ends when the last writer is gone, whoever that is.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int p[2];
  pipe(p);
  for (int i = 0; i < 3; i++)
    if (fork() == 0) {
      if (c & 1) write(p[1], "x", 1);
      _exit(0);
    }
  close(p[1]);
  char buffer[8];
  int total = 0, n;
  while ((n = read(p[0], buffer, sizeof buffer)) > 0) total += n;
  printf("%d %d\n", total, n);
  while (wait(NULL) > 0);
  return 0;
}
