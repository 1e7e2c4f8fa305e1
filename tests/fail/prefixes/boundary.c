//@ frontend: bitcode x86_64
//@ args: --sym-arg 16
//@ options: --emit new
// The boundary of a message of many parts, behind other parameters: a plain value is measured, a quoted one is not.
#include <stdlib.h>
#include <string.h>
static int boundary(const char *at, char *to, int size) {
  int n = 0;
  while (*at && *at != ';') at++;
  if (*at != ';') return -1;
  at++;
  while (*at == ' ') at++;
  if (strncmp(at, "b=", 2) != 0) return -1;
  at += 2;
  if (*at == '"') {
    for (at++; *at && *at != '"'; at++) {
      if (*at == '\\' && at[1]) at++;
#ifdef FIXED
      if (n == size - 1) return -1;
#endif
      to[n++] = *at;  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
    }
  } else {
    for (; *at && *at != ' '; at++) {
      if (n == size - 1) return -1;
      to[n++] = *at;
    }
  }
  to[n] = '\0';  //~ FAULT out-of-bounds-write: write of 1 byte at offset 8
  return n;
}
int main(int argc, char **argv) {
  char *mark = malloc(8);
  if (!mark) return 3;
  int n = boundary(argv[1], mark, 8);
  free(mark);
  return n < 0;
}
