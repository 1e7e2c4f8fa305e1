//@ frontend: bitcode x86_64
//@ args: --sym-args 1 2 2 --sym-files 2 2 --sym-stdin 1
//@ options: --rule open-close
/* Each file is opened and closed under conditions that look different and mean the same (the example of paper 1, figure 1). */
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *name = "-";
  int number = 1;
  do {
    FILE *in;
    if (number < argc) name = argv[number];
    in = strcmp(name, "-") ? fopen(name, "r") : stdin;
    if (!in) continue;
    for (int c; (c = fgetc(in)) != EOF;) {
      if (c < 32 && c != '\n') {
        putchar('~');
        putchar(c + 64);
      } else {
        putchar(c);
      }
    }
    if (name[0] != '-' || name[1] != 0) fclose(in);
  } while (++number < argc);
  return 0;
}
