//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// A variable of the environment is taken for set.
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *mode = argv[1];
  if (strcmp(mode, "-e") == 0) mode = getenv("MODE");
#ifdef FIXED
  if (!mode) mode = "";
#endif
  return strlen(mode) == 1;  //~ FAULT null-dereference
}
