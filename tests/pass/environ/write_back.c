//@ frontend: bitcode x86_64
// A file that the program writes can be read again; the real file system is not touched.
#include <stdio.h>
#include <string.h>
int main(void) {
  char b[16] = "";
  FILE *f = fopen("made", "w");
  if (!f) return 1;
  fputs("hello\n", f);
  fclose(f);
  f = fopen("made", "r");
  if (!f || !fgets(b, sizeof b, f)) return 2;
  fclose(f);
  return remove("made") == 0 && strcmp(b, "hello\n") == 0 ? 0 : 3;
}
