//@ frontend: bitcode x86_64
//@ args: --sym-stdin 4
// A parser calls back for each element; who set it up knows of no comments.
#include <string.h>
#include <unistd.h>
struct callbacks { void (*open)(int *); void (*close)(int *); void (*comment)(int *); int *depth; };
static void opened(int *depth) { ++*depth; }
static void closed(int *depth) { --*depth; }
static void set_up(struct callbacks *cb, int *depth) {
  memset(cb, 0, sizeof *cb);
  cb->open = opened;
  cb->close = closed;
  cb->depth = depth;
}
int main(void) {
  char text[4];
  int depth = 0;
  struct callbacks cb;
  set_up(&cb, &depth);
  if (read(0, text, sizeof text) != sizeof text) return 2;
  for (const char *at = text; at < text + sizeof text; at++) {
    switch (*at) {
    case '(': cb.open(cb.depth); break;
    case ')': cb.close(cb.depth); break;
    case '#':
#ifdef FIXED
      if (!cb.comment) return 1;
#endif
      cb.comment(cb.depth);  //~ FAULT bad-call-target: call of the null pointer
      return depth != 0;
    }
  }
  return depth != 0;
}
