//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --rule open-close,memory-leak --at-exit lenient
/* What is left at exit once is forgiven; what more input may leave more of is not. */
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  FILE *log = fopen("/dev/null", "w");
  char *volatile buffer = malloc(16); // else compilers leave the call out, and the rule has no event
#ifndef FIXED
  for (int i = 0; i < argv[1][0] && i < 2; i++) {
    fopen("/etc/passwd", "r");  //~ VIOLATION open-close: stream from `fopen` is never closed
    malloc(4);                  //~ VIOLATION memory-leak: memory from `malloc` is never freed
  }
#endif
  return log == 0 || buffer == 0;
}
