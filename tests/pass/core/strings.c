//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
#include <string.h>
int main(int argc, char **argv) {
  char copy[8];
  strcpy(copy, argv[1]);
  if (strcmp(copy, "abc") == 0) return 1;
  if (strchr(copy, '=')) return 2;
  if (strlen(copy) == 3 && memcmp(copy, "xy", 2) == 0) return 3;
  return 0;
}
