// input: stdin 6
// Strips the comments of C, strings left as they are: a machine of five states.
#include <unistd.h>

enum state { CODE, SLASH, COMMENT, STAR, STRING };

int main(void) {
  char in[6], out[8];
  enum state state = CODE;
  int n = 0, got = read(0, in, sizeof in);
  for (int i = 0; i < got; i++) {
    char c = in[i];
    if (state == CODE) {
      if (c == '/') state = SLASH;
      else if (c == '"') state = STRING, out[n++] = c;
      else out[n++] = c;
    } else if (state == SLASH) {
      if (c == '*') state = COMMENT;
      else out[n++] = '/', out[n++] = c, state = CODE;
    } else if (state == COMMENT) {
      if (c == '*') state = STAR;
    } else if (state == STAR) {
      if (c == '/') state = CODE;
      else if (c != '*') state = COMMENT;
    } else {
      out[n++] = c;
      if (c == '"') state = CODE;
    }
  }
  write(1, out, n);
  return state;
}
