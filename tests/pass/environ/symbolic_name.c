//@ frontend: bitcode x86_64
//@ args: --sym-arg 2 --sym-arg 1 --sym-files 1 4
//@ options: --emit all
//@ paths: 23
// File names that are inputs: every name that is there is found, in every spelling; a new file's name stays an input.
#include <errno.h>
#include <fcntl.h>
int main(int argc, char **argv) {
  int made = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (made < 0) return errno == EISDIR ? 1 : errno == ENOENT ? 2 : 3;
  int there = argv[1][0] == 'A' && !argv[1][1] ? 10 : 20;
  int old = open(argv[2], O_RDONLY);
  if (old < 0) return there + (errno == ENOENT ? 1 : 2);
  return there + (argv[2][0] == 'A' ? 3 : argv[2][0] == argv[1][0] ? 4 : 5);
}
