//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A parser calls back for each element; its caller knows of no comments.
#include <unistd.h>
struct callbacks { void (*open)(int *); void (*close)(int *); void (*comment)(int *); int *depth; };
static void opened(int *depth) { ++*depth; }
static void closed(int *depth) { --*depth; }
static void parse(const char *at, int size, const struct callbacks *cb) {
  for (; size-- > 0; at++) {
    switch (*at) {
    case '(': cb->open(cb->depth); break;
    case ')': cb->close(cb->depth); break;
    case '#':
#ifdef FIXED
      if (!cb->comment) return;
#endif
      cb->comment(cb->depth);  //~ FAULT bad-call-target
      return;
    }
  }
}
int main(void) {
  char text[4];
  int depth = 0;
  struct callbacks cb = {.open = opened, .close = closed, .depth = &depth};
  if (read(0, text, sizeof text) != sizeof text) return 2;
  parse(text, sizeof text, &cb);
  return depth != 0;
}
