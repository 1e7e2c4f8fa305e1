//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
// A text of six bytes is copied sixteen bytes at a time: what lies behind it is moved, too.
#include <stdlib.h>
#include <string.h>
typedef char block __attribute__((vector_size(16), aligned(1)));
char kept[32];
int main(int argc, char **argv) {
  char *text = malloc(6);
  if (!text) return 3;
  memcpy(text, "hello", 6);
#ifdef FIXED
  memcpy(kept, text, 6);
#else
  *(block *)kept = *(block *)text;  //~ FAULT out-of-bounds-read: 
#endif
  free(text);
  return argv[1][0] == kept[0];
}
