//@ frontend: bitcode x86_64
//@ args: A --sym-files 1 2
//@ options: --rule file-access
/* Reading goes on though the stream has told of an error: the file is open for writing only. */
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *in = fopen(argv[1], "r"), *out = fopen("/dev/null", "w");
  if (!in || !out) return 2;
  int c = fgetc(in);
  if (c == 'r') {
    fgetc(out);
    if (ferror(out)) {
#ifdef FIXED
      clearerr(out);
#endif
      fputs("gone", out);  //~ VIOLATION file-access: stream is used after it had an error
    }
  }
  fclose(in);
  fclose(out);
  return 0;
}
