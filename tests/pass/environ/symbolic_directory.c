//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ paths: 9
//@ options: --emit all
// A directory with a name that is an input: made, listed, entered and removed, and the name is each that it may be.
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argv[1][0] == '/') return 0;
  if (mkdir(argv[1], 0700)) return errno == EEXIST ? 1 : errno == ENOENT ? 2 : 3;
  struct stat s;
  if (stat("q", &s) == 0) return argv[1][0] == 'q' ? 4 : 90;
  if (chdir(argv[1]) || mkdir("in", 0700) || rmdir("in") || chdir("..")) return 91;
  int seen = 0;
  DIR *here = opendir(".");
  for (struct dirent *e; (e = readdir(here));) seen += e->d_type == DT_DIR && e->d_name[0] == argv[1][0];
  closedir(here);
  return rmdir(argv[1]) || stat(argv[1], &s) == 0 || !seen ? 92 : 5;
}
