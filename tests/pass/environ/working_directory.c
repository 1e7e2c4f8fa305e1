//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
// The working directory is the real one; a replay lies in another folder and still ends the same.
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char b[4096];
  if (argv[1][0] == 'p') puts(getcwd(b, sizeof b) ? b : "?");
  return 0;
}
