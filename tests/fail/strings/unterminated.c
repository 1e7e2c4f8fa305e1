//@ frontend: bitcode x86_64
//@ args: --sym-arg 4
// `strncpy` leaves no terminator where the text fills the field.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char *field = malloc(4);
  if (!field) return 3;
  strncpy(field, argv[1], 4);
#ifdef FIXED
  field[3] = '\0';
#endif
  unsigned length = strlen(field);  //~ FAULT out-of-bounds-read
  free(field);
  return length == 3;
}
