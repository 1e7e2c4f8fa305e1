// The working directory and the mask belong to a process.
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "input.h"
int main(void) {
  unsigned char c = input();
  char here[4096], there[4096];
  int status;
  getcwd(here, sizeof here);
  umask(022);
  if (fork() == 0) {
    chdir(c & 1 ? "/" : "/tmp");
    umask(077);
    getcwd(there, sizeof there);
    _exit(strlen(there));
  }
  wait(&status);
  getcwd(there, sizeof there);
  printf("%d %d %o\n", WEXITSTATUS(status), strcmp(here, there), umask(0));
  return 0;
}
