//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ replay: no, it would give a file of the machine away
/* The group that a file of the host is given to is symbolic: it is decided before the file is taken over. */
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  struct stat now;
  unsigned group = 1000 + (argv[1][0] & 1);
  if (chown("/etc/passwd", -1, group)) return 2;
  return stat("/etc/passwd", &now) || now.st_gid != group;
}
