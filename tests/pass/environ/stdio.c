//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
#include <stdio.h>
#include <stdlib.h>
static void bye(void) { puts("bye"); }
int main(int argc, char **argv) {
  char b[32];
  atexit(bye);
  int n = snprintf(b, sizeof b, "%d|%5s|%-3c|%#x|%.2f", 42, "ab", 'c', 255, 2.5);
  printf("%s %d\n", b, n);
  fprintf(stderr, "to the other output\n");
  if (argv[1][0] == 'e') exit(4);
  return atoi("17") + (argv[1][0] && argv[1][1] == 'z');
}
