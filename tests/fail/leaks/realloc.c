//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --leaks
/* The old pointer is overwritten by a second allocation instead of a growing one. */
#include <stdlib.h>
static char *buffer;
static void grow(size_t size) {
#ifdef FIXED
  buffer = realloc(buffer, size);
#else
  buffer = malloc(size);  //~ FAULT memory-leak: 8 bytes in 1 object
#endif
  buffer[0] = 1;
}
int main(int argc, char **argv) {
  grow(8);
  if (argv[1][0] == 'g') grow(64);
  return 0;
}
