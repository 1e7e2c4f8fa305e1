// input: argument 4
// Prints its argument as `echo -e` does: escapes are characters, `\c` ends the output.
#include <unistd.h>

static int digit(char c) { return c >= '0' && c <= '7'; }

int main(int argc, char **argv) {
  char out[16];
  int n = 0;
  for (const char *p = argv[1]; *p; p++) {
    if (*p != '\\') {
      out[n++] = *p;
      continue;
    }
    p++;
    if (*p == 'n') out[n++] = '\n';
    else if (*p == 't') out[n++] = '\t';
    else if (*p == '\\') out[n++] = '\\';
    else if (*p == 'c') break;
    else if (digit(*p)) {
      int value = 0;
      for (; digit(*p); p++) value = 8 * value + *p - '0';
      out[n++] = value;
      p--;
    } else {
      out[n++] = '\\';
      if (!*p) break;
      out[n++] = *p;
    }
  }
  write(1, out, n);
  return 0;
}
