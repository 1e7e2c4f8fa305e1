//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
/* Running another program fails as the kernel says where there is none, or none that may be run. */
#include <errno.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char *const none[] = {0};
  switch (argv[1][0]) {
  case 'n': execve("/nonexistent/program", none, none); return errno == ENOENT ? 1 : 9;
  case 'd': execve("/", none, none); return errno == EACCES ? 2 : 9;
  case 'f': execve("/etc/passwd", none, none); return errno == EACCES ? 3 : 9;
  case 'p': execve("/etc/passwd/x", none, none); return errno == ENOTDIR ? 4 : 9;
  }
  return 0;
}
