//@ frontend: bitcode x86_64
// The flags of a request are input; its pointers are set by some of them and used by others.
#include <stddef.h>
#include <string.h>
#include <klee/klee.h>
enum { BODY = 1, REPLY = 2, ASYNC = 4 };
struct request { unsigned flags; const char *body; int *reply; };
static int answer;
static void serve(const struct request *r) {
  if ((r->flags & BODY) && r->body[0] != 'b') return;
#ifdef FIXED
  if (!r->reply) return;
#endif
  if (r->flags & (REPLY | ASYNC)) *r->reply = 1;  //~ FAULT null-dereference: write of 4 bytes
}
int main(void) {
  struct request r;
  klee_make_symbolic(&r, sizeof r, "request");
  klee_assume(r.flags < 8);
  r.body = (r.flags & BODY) ? "body" : NULL;
  r.reply = (r.flags & REPLY) ? &answer : NULL;
  serve(&r);
  return answer;
}
