// input: stdin 4
// Counts words and lines by a table of character classes, as `wc` does.
#include <unistd.h>

enum { OTHER, SPACE, LINE };
static const unsigned char class[256] = { ['\n'] = LINE, [' '] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, ['\v'] = SPACE, ['\f'] = SPACE };

int main(void) {
  unsigned char in[4];
  int words = 0, lines = 0, inside = 0, got = read(0, in, sizeof in);
  for (int i = 0; i < got; i++) {
    int what = class[in[i]];
    if (what == LINE) lines++;
    if (what != OTHER) inside = 0;
    else if (!inside) inside = 1, words++;
  }
  return 10 * lines + words;
}
