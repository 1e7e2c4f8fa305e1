//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// A pointer into a vector is kept while the vector grows.
#include <stdlib.h>
static int *items, count, room;
static int *append(int value) {
  if (count == room) {
    room += 2;
    int *grown = realloc(items, room * sizeof *items);
    if (!grown) exit(3);
    items = grown;
  }
  items[count] = value;
  return &items[count++];
}
int main(int argc, char **argv) {
  append(0);
  int *total = items;
  for (const char *p = argv[1]; *p == '+'; p++) {
    append(1);
#ifdef FIXED
    total = items;
#endif
    *total += 1;  //~ FAULT use-after-free: read of 4 bytes at offset 0
  }
  free(items);
  return 0;
}
