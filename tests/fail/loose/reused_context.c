//@ frontend: bitcode x86_64
//@ args: --sym-stdin 2
// A context is used for one message after another; a bad one leaves the pointer of that before it, which is freed again.
#include <stdlib.h>
#include <unistd.h>
struct context { char *name, *value; };
static int parse(struct context *c, char kind) {
#ifdef FIXED
  c->name = c->value = NULL;
#endif
  c->name = malloc(4);
  if (!c->name || kind != 'v') return -1;
  c->value = malloc(4);
  return c->value ? 0 : -1;
}
static void release(struct context *c) {
  free(c->value);  //~ FAULT double-free
  free(c->name);
}
int main(void) {
  char in[2];
  struct context c = {0};
  if (read(0, in, 2) != 2) return 2;
  int bad = 0;
  for (int i = 0; i < 2; i++) {
    bad += parse(&c, in[i]) < 0;
    release(&c);
  }
  return bad;
}
