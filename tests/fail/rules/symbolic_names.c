//@ frontend: bitcode x86_64
//@ args: --sym-arg 2 --sym-arg 2
//@ options: --rule data-loss
/* Names stay symbolic: only where the name that is written and the name that is moved are one file is it lost, in any spelling. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  FILE *stream = fopen(argv[1], "w");
  if (!stream)
    return 2;
  fputs("new", stream);
#ifdef FIXED
  fflush(stream);
  fsync(fileno(stream));
#endif
  rename(argv[2], "final");  //~ VIOLATION data-loss: its events: write by `fputs` at symbolic_names.c:12, replace by `rename` at symbolic_names.c:17
  return 0;
}
