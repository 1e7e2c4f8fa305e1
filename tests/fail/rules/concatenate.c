//@ frontend: bitcode x86_64
//@ args: --sym-arg 2 --sym-file -x:1
//@ options: --rule open-close
/* Standard input is told from a file by its name's first byte alone: a file whose name begins with `-` is left open (figure 1 of paper 1, broken). */
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *name = "-";
  int number = 1;
  do {
    FILE *in;
    if (number < argc) name = argv[number];
    in = strcmp(name, "-") ? fopen(name, "r") : stdin;  //~ VIOLATION open-close: stream from `fopen` is never closed
    if (!in) continue;
    for (int c; (c = fgetc(in)) != EOF;) {
      if (c < 32 && c != '\n') {
        putchar('~');
        putchar(c + 64);
      } else {
        putchar(c);
      }
    }
#ifdef FIXED
    if (name[0] != '-' || name[1] != 0) fclose(in);
#else
    if (name[0] != '-') fclose(in);
#endif
  } while (++number < argc);
  return 0;
}
