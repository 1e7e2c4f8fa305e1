//@ frontend: bitcode x86_64
//@ args: --sym-arg 1
//@ options: --leaks
/* Nothing is lost: what is never freed is reached from a global, through the middle of an object, by a choice of pointers, and over the stack
   of the function that exits. */
#include <stdlib.h>
#include <stdio.h>
static char *middle, **table;
static void leave(int status) {
  char *local = malloc(5);
  local[0] = 'l';
  fprintf(stderr, "%c", local[0]);
  exit(status);
}
int main(int argc, char **argv) {
  middle = (char *)malloc(40) + 20;
  table = malloc(2 * sizeof *table);
  table[0] = malloc(3);
  table[1] = malloc(4);
  char **second = malloc(sizeof *second);
  *second = table[argv[1][0] & 1];
  table[argv[1][0] & 1] = (char *)second;
  leave(argv[1][0] == 'e');
}
