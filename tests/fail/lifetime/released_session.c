//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A session of a protocol is logged out of and then asked for its name.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct session { char name[8]; int open; };
static struct session *current;
static int command(char c) {
  switch (c) {
  case 'i':
    if (current) return 0;
    current = calloc(1, sizeof *current);
    return current != NULL;
  case 'o':
    if (!current) return 0;
    free(current);
#ifdef FIXED
    current = NULL;
#endif
    return 1;
  case 'n':
    return current && strcmp(current->name, "root") == 0;  //~ FAULT use-after-free: read of 1 byte
  }
  return 0;
}
int main(void) {
  char in[4];
  if (read(0, in, 3) != 3 || in[0] != 'i') return 1;
  for (int i = 0; i < 3; i++) {
    if (i == 2 && in[i] == 'o') break;
    command(in[i]);
  }
  return 0;
}
