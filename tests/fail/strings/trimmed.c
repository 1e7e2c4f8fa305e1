//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// Blanks are trimmed from the end of a text that is nothing but blanks.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  unsigned length = strlen(argv[1]);
  char *text = malloc(length + 1);
  if (!text) return 3;
  memcpy(text, argv[1], length + 1);
  char *end = text + length;
#ifdef FIXED
  while (end > text && end[-1] == ' ') end--;
#else
  while (length && end[-1] == ' ') end--;  //~ FAULT out-of-bounds-read: read of 1 byte at offset -1
#endif
  *end = '\0';
  int status = text[0] == '-';
  free(text);
  return status;
}
