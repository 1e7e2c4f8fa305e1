//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ options: --rule descriptors
/* Two ways to one violation are two findings; going round a loop is none of its own. */
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int fd;
  if (argv[1][0] == 'a')
    fd = open("/etc/passwd", O_RDONLY);
  else
    fd = open("/dev/null", O_RDONLY);
  close(fd);
#ifndef FIXED
  for (int i = 0; i < 3 && argv[1][1] != i; i++)
    close(fd);  //~ VIOLATION descriptors: its events: open by `open` at stories.c:10 //~ VIOLATION descriptors: its events: open by `open` at stories.c:12
#endif
  return 0;
}
