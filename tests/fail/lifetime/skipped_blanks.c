//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// A copy is freed by a pointer that has moved past leading blanks.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *text = strdup(argv[1]);
  if (!text) return 3;
#ifdef FIXED
  char *start = text;
#else
#define start text
#endif
  while (*text == ' ') text++;
  int status = strcmp(text, "no") == 0;
  free(start);  //~ FAULT invalid-free
  return status;
}
