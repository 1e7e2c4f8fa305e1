//@ frontend: bitcode x86_64
//@ args: A --sym-files 1 2
//@ options: --rule open-close
/* A stream is left open where the header is bad, and the error path closes what its caller closes again. */
#include <stdio.h>
static int header(FILE *f) {
  int c = fgetc(f);
#ifndef FIXED
  if (c == 'x') {
    fclose(f);
    return -1;
  }
#endif
  return c;
}
int main(int argc, char **argv) {
  FILE *f = fopen(argv[1], "r");  //~ VIOLATION open-close: stream from `fopen` is never closed
  if (!f) return 2;
  int c = header(f);
#ifndef FIXED
  if (c == 'h') return 1;
  if (c == -1) {
    // The stream's memory is gone, which is a fault of its own.
    fclose(f);  //~ VIOLATION open-close: stream is closed again; its events: open by `fopen` at open_close.c:17, close by `fclose` at open_close.c:10 //~ FAULT use-after-free
    return 3;
  }
#endif
  fclose(f);
  return 0;
}
