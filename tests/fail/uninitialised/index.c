//@ frontend: bitcode x86_64
//@ args: --sym-arg 2
//@ options: --uninit report
/* A heap object whose index field is set only for digits. */
#include <stdlib.h>
struct slot { char kind; unsigned char index; };
static const char table[256] = "none";
static struct slot *make(char kind) {
#ifdef FIXED
  struct slot *s = calloc(1, sizeof *s);
#else
  struct slot *s = malloc(sizeof *s);
#endif
  s->kind = kind;
  if (kind >= '0' && kind <= '9') s->index = kind - '0';
  return s;
}
int main(int argc, char **argv) {
  struct slot *s = make(argv[1][0]);
  int status = table[s->index];  //~ FAULT uninitialised-read: an address depends on byte 1 of a heap object (2 bytes) allocated at index.c:12
  free(s);
  return status != 0;
}
