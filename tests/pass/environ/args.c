//@ frontend: bitcode x86_64
//@ args: -n --sym-args 0 2 1 last
// How many arguments there are is an input.
#include <stdio.h>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) printf("%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
  return argc;
}
