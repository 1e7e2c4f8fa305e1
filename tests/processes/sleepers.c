// Sleepers wake in the order of their times.
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  int first = c & 1 ? 60000 : 20000, second = c & 1 ? 20000 : 60000, p[2];
  pipe(p);
  if (fork() == 0) { usleep(first); write(p[1], "a", 1); _exit(0); }
  if (fork() == 0) { usleep(second); write(p[1], "b", 1); _exit(0); }
  wait(NULL);
  wait(NULL);
  char text[3] = "";
  read(p[0], text, 2);
  printf("%s\n", text);
  return 0;
}
