// A child asks in a loop whether a file is there, which its parent makes.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  char name[] = "/tmp/asksXXXXXX";
  int status;
  close(mkstemp(name));
  unlink(name);
  pid_t child = fork();
  if (child == 0) {
    while (access(name, F_OK)) {}
    unlink(name);
    _exit(c & 1);
  }
  // The parent asks, too.
  for (int i = 0; i < 3000; i++) getppid();
  close(open(name, O_CREAT | O_WRONLY, 0600));
  waitpid(child, &status, 0);
  printf("%d\n", WEXITSTATUS(status));
  return 0;
}
