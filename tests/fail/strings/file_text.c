//@ frontend: bitcode x86_64
//@ args: --sym-files 1 4 A
// A file is read as a text, but nothing ends it.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static int number(const char *p) {
  int n = 0;
  while (*p >= '0' && *p <= '9') n = n * 10 + *p++ - '0';  //~ FAULT out-of-bounds-read: read of 1 byte at offset 4
  return n;
}
int main(int argc, char **argv) {
  int fd = open(argv[1], O_RDONLY);
#ifdef FIXED
  char *text = calloc(5, 1);
#else
  char *text = malloc(4);
#endif
  if (fd < 0 || !text || read(fd, text, 4) != 4) return 2;
  int n = number(text);
  free(text);
  return n > 1000;
}
