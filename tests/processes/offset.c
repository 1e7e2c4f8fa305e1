// An open file's offset is shared.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  char name[] = "/tmp/offsetXXXXXX", text[8] = "";
  int fd = mkstemp(name);
  unlink(name);
  write(fd, "abcdefgh", 8);
  lseek(fd, 0, SEEK_SET);
  if (fork() == 0) {
    read(fd, text, c & 3);
    _exit(0);
  }
  wait(NULL);
  read(fd, text, 2);
  printf("%s %ld\n", text, (long)lseek(fd, 0, SEEK_CUR));
  return 0;
}
