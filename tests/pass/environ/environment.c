//@ frontend: bitcode x86_64
//@ args: --sym-env MODE:2
#include <stdlib.h>
#include <string.h>
int main(void) {
  const char *m = getenv("MODE");
  if (!m || getenv("OTHER")) return 9;
  return strcmp(m, "on") == 0;
}
