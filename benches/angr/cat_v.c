// input: stdin 3
// Shows what cannot be printed, as `cat -v` does.
#include <unistd.h>

int main(void) {
  unsigned char in[3];
  char out[12];
  int n = 0, got = read(0, in, sizeof in);
  for (int i = 0; i < got; i++) {
    unsigned char c = in[i];
    if (c >= 128) {
      out[n++] = 'M';
      out[n++] = '-';
      c -= 128;
    }
    if (c == '\n' || c == '\t') out[n++] = c;
    else if (c < 32) {
      out[n++] = '^';
      out[n++] = c + 64;
    } else if (c == 127) {
      out[n++] = '^';
      out[n++] = '?';
    } else out[n++] = c;
  }
  write(1, out, n);
  return n;
}
