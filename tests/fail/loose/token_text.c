//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// A token is handed back as a structure; only words and numbers have a text.
#include <string.h>
struct token { int kind; const char *text, *end; };
static struct token next(const char *at) {
  struct token t = {*at};
  switch (*at) {
  case 'a' ... 'z': t.text = at; t.end = at + 1; break;
  case '0' ... '9': t.text = at; t.end = at + strlen(at); break;
  }
  return t;
}
static int is_zero(const struct token *t) {
#ifdef FIXED
  if (!t->text) return 0;
#endif
  return t->text[0] == '0';  //~ FAULT null-dereference: read of 1 byte
}
int main(int argc, char **argv) {
  struct token sign = next(argv[1]);
  if (sign.kind != '-') return 1;
  struct token operand = next(argv[1] + 1);
  return is_zero(&operand);
}
