//@ frontend: bitcode x86_64
//@ args: --sym-arg 3
// A lexer ends the program on a token that its parser does not know.
#include <stdlib.h>
enum token { END, NUMBER, PLUS, MINUS };
static enum token next(const char **p) {
  if (**p == '\0') return END;
  char c = *(*p)++;
  return c == '+' ? PLUS : c == '-' ? MINUS : NUMBER;
}
static int apply(enum token t, int value) {
  switch (t) {
  case PLUS: return value + 1;
#ifdef FIXED
  case MINUS: return value - 1;
#endif
  case END:
  case NUMBER: return value;
  default: abort();  //~ FAULT abort
  }
}
int main(int argc, char **argv) {
  const char *p = argv[1];
  int value = 0;
  for (enum token t; (t = next(&p)) != END;) value = apply(t, value);
  return value == 3;
}
