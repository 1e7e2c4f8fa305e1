// A parent that yields until a child has made a file.
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  char name[] = "/tmp/yieldsXXXXXX";
  close(mkstemp(name));
  unlink(name);
  if (fork() == 0) {
    if (c & 1) usleep(1000);
    close(open(name, O_CREAT | O_WRONLY, 0600));
    _exit(0);
  }
  while (access(name, F_OK)) sched_yield();
  unlink(name);
  wait(NULL);
  printf("made\n");
  return 0;
}
