//@ frontend: bitcode, since what ran before `main` has written the stack that its variables are on
//@ args: --sym-arg 3
//@ options: --uninit report
// A context is on its caller's stack; its log is set only if it is asked for.
#include <stddef.h>
struct context { const char *input; char *log; int errors; };
static char log_text[4];
static void check(struct context *c) {
  for (const char *p = c->input; *p; p++) {
    if (*p != '!') continue;
    c->errors++;
    if (c->log) c->log[0] = *p;  //~ FAULT uninitialised-read: a branch depends on
  }
}
int main(int argc, char **argv) {
  struct context c;
  c.input = argv[1];
  c.errors = 0;
#ifdef FIXED
  c.log = NULL;
#endif
  if (argv[1][0] == 'v') c.log = log_text;
  check(&c);
  return c.errors;
}
